import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { type Tenant, tenants } from '../access/tables.ts'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { parseInput } from '../kernel/errors.ts'
import { queueAudit } from './audit-actions.ts'
import { queueChanged } from './change-events.ts'
import { queuePermissions } from './permissions.ts'

export const SetMaxConcurrentRunsInput = z.object({ maxConcurrentRuns: z.int().min(1).max(10_000).nullable() })

/** Limits the concurrent runs of the tenant over all workers; null removes the limit. Active runs continue. */
export async function setMaxConcurrentRuns(ctx: Ctx, input: z.input<typeof SetMaxConcurrentRunsInput>): Promise<Tenant> {
  authorize(ctx, queuePermissions.limit)
  const { maxConcurrentRuns } = parseInput(SetMaxConcurrentRunsInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const [tenant] = await tx.update(tenants).set({ maxConcurrentRuns }).where(eq(tenants.id, ctx.tenantId)).returning()
    await audit(tx, ctx, queueAudit.limit, { id: ctx.tenantId, name: tenant!.name }, { maxConcurrentRuns })
    ctx.notify(queueChanged({ id: ctx.tenantId, tenantId: ctx.tenantId }))
    return tenant!
  })
}
