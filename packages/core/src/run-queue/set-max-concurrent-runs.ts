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

/**
 * Say how many runs of the tenant may go on at once, over all workers; null: as many as there is room for. Those under way go on.
 */
export async function setMaxConcurrentRuns(ctx: Ctx, input: z.input<typeof SetMaxConcurrentRunsInput>): Promise<Tenant> {
  authorize(ctx, queuePermissions.write)
  const { maxConcurrentRuns } = parseInput(SetMaxConcurrentRunsInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const [tenant] = await tx.update(tenants).set({ maxConcurrentRuns }).where(eq(tenants.id, ctx.tenantId)).returning()
    await audit(tx, ctx, queueAudit.limit, { id: ctx.tenantId, name: tenant!.name }, { maxConcurrentRuns })
    ctx.notify(queueChanged({ id: ctx.tenantId, tenantId: ctx.tenantId }))
    return tenant!
  })
}
