import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { type Tenant, tenants } from '../access/tables.ts'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { parseInput } from '../errors.ts'

export const SetRunsAtOnceInput = z.object({ runsAtOnce: z.int().min(1).max(10_000).nullable() })

/** Say how many runs of the tenant may go on at once, over all workers; null: as many as there is room for. Those under way go on. */
export async function setRunsAtOnce(ctx: Ctx, input: z.input<typeof SetRunsAtOnceInput>): Promise<Tenant> {
  authorize(ctx, 'queue:write')
  const { runsAtOnce } = parseInput(SetRunsAtOnceInput, input)
  return inTransaction(ctx, async (tx, afterwards) => {
    const [tenant] = await tx.update(tenants).set({ runsAtOnce }).where(eq(tenants.id, ctx.tenantId)).returning()
    await audit(tx, ctx, 'queue.limit', { id: ctx.tenantId, name: tenant!.name }, { runsAtOnce })
    afterwards({ topic: 'queue', id: ctx.tenantId, tenantId: ctx.tenantId })
    return tenant!
  })
}
