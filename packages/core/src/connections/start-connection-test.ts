import { and, eq, isNull, sql } from 'drizzle-orm'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { nodeAudit } from '../nodes/audit-actions.ts'
import { connectionTestChanged } from './change-events.ts'
import { connectionPermissions } from './permissions.ts'
import { type ConnectionTest, connectionTests } from './tables.ts'

/** Claims a connection test. @returns null when another worker has it, or it ended */
export async function startConnectionTest(ctx: Ctx, { id }: { id: string }): Promise<ConnectionTest | null> {
  authorize(ctx, connectionPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const [test] = await tx
      .update(connectionTests)
      .set({ startedAt: sql`now()` })
      .where(
        and(
          visibleTo(ctx, connectionTests),
          eq(connectionTests.id, id),
          isNull(connectionTests.startedAt),
          isNull(connectionTests.finishedAt),
        ),
      )
      .returning()
    if (!test) return null
    // Committed before the worker connects.
    await audit(tx, ctx, nodeAudit.connect, { id: test.nodeId }, { purpose: 'connection test' })
    ctx.notify(connectionTestChanged({ id, tenantId: ctx.tenantId }))
    return test
  })
}
