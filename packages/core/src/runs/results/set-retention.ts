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
 * Sets for how many days after its end a run's log, artifacts and row are retained. Omitted fields stay unchanged; null: no
 * limit. A worker removes expired data within minutes, which cannot be undone.
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
    const scope = eq(tenants.id, ctx.tenantId)
    const [tenant] =
      Object.keys(given).length > 0
        ? await tx.update(tenants).set(given).where(scope).returning()
        : await tx.select().from(tenants).where(scope)
    await audit(tx, ctx, retentionAudit.set, { id: ctx.tenantId, name: tenant!.name }, given)
    return tenant!
  })
}
