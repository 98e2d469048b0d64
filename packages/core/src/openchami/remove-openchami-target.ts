import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { NotFound } from '../kernel/errors.ts'
import { openchamiTargetAudit } from './audit-actions.ts'
import { openchamiTargetChanged } from './change-events.ts'
import { openchamiPermissions } from './permissions.ts'
import { openchamiTargets } from './tables.ts'
import { resolveTargetAlert } from './target-alert.ts'

export const NO_TARGET = 'The tenant has no OpenCHAMI target. Set one first.'

/** Removes the tenant's target. What was pushed stays there. @throws NotFound */
export async function removeOpenchamiTarget(ctx: Ctx): Promise<{ id: string }> {
  authorize(ctx, openchamiPermissions.write)
  return inTransaction(ctx, async (tx, ctx) => {
    const [target] = await tx.delete(openchamiTargets).where(visibleTo(ctx, openchamiTargets)).returning()
    if (!target) throw new NotFound(NO_TARGET)
    await audit(tx, ctx, openchamiTargetAudit.remove, target)
    await resolveTargetAlert(tx, ctx)
    ctx.notify(openchamiTargetChanged({ id: target.id, tenantId: ctx.tenantId }))
    return { id: target.id }
  })
}
