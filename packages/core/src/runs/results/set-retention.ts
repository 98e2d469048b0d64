import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { type Tenant, tenants } from '../../access/tables.ts'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { parseInput } from '../../kernel/errors.ts'
import { retentionAudit } from '../audit-actions.ts'
import { retentionPermissions } from '../permissions.ts'

const days = z.int().min(1).max(36_500).nullish()
export const SetRetentionInput = z.object({ logDays: days, artifactDays: days, runDays: days })

/**
 * Say for how many days after its end a run's log, its artifacts and the run as a whole are kept. What is left out stays as it
 * was; null: for ever. A worker removes what is older within minutes, and that cannot be undone.
 */
export async function setRetention(ctx: Ctx, input: z.input<typeof SetRetentionInput>): Promise<Tenant> {
  authorize(ctx, retentionPermissions.write)
  const { logDays, artifactDays, runDays } = parseInput(SetRetentionInput, input)
  const given = Object.fromEntries(
    Object.entries({ logRetentionDays: logDays, artifactRetentionDays: artifactDays, runRetentionDays: runDays }).filter(
      ([, n]) => n !== undefined,
    ),
  )
  return inTransaction(ctx, async (tx) => {
    const mine = eq(tenants.id, ctx.tenantId)
    const [tenant] =
      Object.keys(given).length > 0
        ? await tx.update(tenants).set(given).where(mine).returning()
        : await tx.select().from(tenants).where(mine)
    await audit(tx, ctx, retentionAudit.set, { id: ctx.tenantId, name: tenant!.name }, given)
    return tenant!
  })
}
