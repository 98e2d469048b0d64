import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { type Tenant, tenants } from '../../access/tables.ts'
import { audit, auditPermissions } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { parseInput } from '../../kernel/errors.ts'
import { retentionAudit } from '../audit-actions.ts'
import { retentionPermissions } from '../permissions.ts'

const days = z.int().min(1).max(36_500).nullish()
/** Shorter periods would let a member remove the traces of what they did. */
const MIN_AUDIT_DAYS = 30
export const SetRetentionInput = z.object({
  logDays: days,
  artifactDays: days,
  runDays: days,
  auditDays: z.int().min(MIN_AUDIT_DAYS, `must be at least ${MIN_AUDIT_DAYS}`).max(36_500).nullish(),
})

/**
 * Sets for how many days after its end a run's log, artifacts and row are retained, and for how many days entries of the audit log
 * are. Omitted fields stay unchanged; null: no limit. A worker removes expired data within minutes, which cannot be undone.
 * @throws Forbidden also for `auditDays` without `audit:write`
 */
export async function setRetention(ctx: Ctx, input: z.input<typeof SetRetentionInput>): Promise<Tenant> {
  authorize(ctx, retentionPermissions.write)
  const { logDays, artifactDays, runDays, auditDays } = parseInput(SetRetentionInput, input)
  if (auditDays !== undefined) authorize(ctx, auditPermissions.write)
  const given = Object.fromEntries(
    Object.entries({
      logRetentionDays: logDays,
      artifactRetentionDays: artifactDays,
      runRetentionDays: runDays,
      auditRetentionDays: auditDays,
    }).filter(([, n]) => n !== undefined),
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
