import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { actorColumns, authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { Conflict, NotFound, parseInput } from '../../kernel/errors.ts'
import { IdInput } from '../../kernel/input.ts'
import { credentialRotations } from '../../rotations/tables.ts'
import { jobRuns } from '../../runs/tables.ts'
import { tenantAudit } from '../audit-actions.ts'
import { tenantPermissions } from '../permissions.ts'
import { deleteTenantBlockedReason } from '../policy.ts'
import { type Tenant, tenants } from '../tables.ts'

/**
 * Requests the deletion of a suspended tenant with all its data, which cannot be undone: `purgeDeletedTenants` removes it. The audit
 * log of the installation records it, because the tenant's own is deleted.
 * @throws NotFound; Conflict it is not suspended, a run is active, or a rotation is unfinished: only its row has the new password of nodes
 */
export async function deleteTenant(ctx: Ctx, input: z.input<typeof IdInput>): Promise<Tenant> {
  authorize(ctx, tenantPermissions.delete)
  const { id } = parseInput(IdInput, input)
  return inTransaction({ ...ctx, db: ctx.systemDb }, async (tx, ctx) => {
    const [before] = await tx.select().from(tenants).where(eq(tenants.id, id)).for('no key update')
    if (!before) throw new NotFound(`There is no tenant ${id}.`)
    const reason = deleteTenantBlockedReason(ctx.actor, before)
    if (reason) throw new Conflict(reason)
    const active = await tx.$count(jobRuns, isActiveRunOf(id))
    if (active > 0)
      throw new Conflict(
        `The tenant ${before.name} has ${active} active ${active === 1 ? 'run' : 'runs'}. Wait for the end, or resume the tenant and cancel ${active === 1 ? 'it' : 'them'}.`,
      )
    const rotating = await tx
      .select({ name: credentialRotations.name })
      .from(credentialRotations)
      .where(and(eq(credentialRotations.tenantId, id), isNull(credentialRotations.finishedAt)))
      .orderBy(credentialRotations.name)
    if (rotating.length > 0)
      throw new Conflict(
        `The tenant ${before.name} has unfinished rotations of ${rotating.map(({ name }) => name).join(', ')}. Wait for the end, or resume the tenant and cancel them.`,
      )
    const [tenant] = await tx
      .update(tenants)
      .set({ deletedAt: sql`now()`, ...actorColumns(ctx, 'deleted') })
      .where(eq(tenants.id, id))
      .returning()
    await audit(tx, { ...ctx, tenantId: null }, tenantAudit.delete, tenant!)
    return tenant!
  })
}

/** Condition on a run: it belongs to the tenant, and a worker executes it. */
export const isActiveRunOf = (tenantId: string) =>
  and(eq(jobRuns.tenantId, tenantId), isNotNull(jobRuns.startedAt), isNull(jobRuns.finishedAt))
