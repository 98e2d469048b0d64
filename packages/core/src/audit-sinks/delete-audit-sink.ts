import { and, eq } from 'drizzle-orm'
import type { z } from 'zod'
import { audit, auditPermissions } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { auditSinkAudit } from './audit-actions.ts'
import { auditSinkChanged } from './change-events.ts'
import { auditSinks } from './tables.ts'

/** Deletes a sink. Its receiver gets no further entries, not even that of the deletion. @throws NotFound */
export async function deleteAuditSink(ctx: Ctx, input: z.input<typeof IdInput>): Promise<{ id: string }> {
  authorize(ctx, auditPermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const [sink] = await tx
      .delete(auditSinks)
      .where(and(visibleTo(ctx, auditSinks), eq(auditSinks.id, id)))
      .returning()
    if (!sink) throw await notFoundOrConflict(tx, ctx, auditSinks, id, 'sink', () => null)
    await audit(tx, ctx, auditSinkAudit.delete, sink)
    ctx.notify(auditSinkChanged({ id, tenantId: ctx.tenantId }))
    return { id }
  })
}
