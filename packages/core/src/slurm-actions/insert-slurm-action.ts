import { type SlurmAction, slurmWordProblem, targetKind } from '@muster/slurm/commands'
import { audit } from '../audit/index.ts'
import type { SlurmCluster } from '../clusters/tables.ts'
import type { Ctx, createdBy, Tx } from '../kernel/context.ts'
import { slurmActionAudit } from './audit-actions.ts'
import { auditedTargets } from './audited-targets.ts'
import { slurmActionChanged } from './change-events.ts'
import { slurmActionQueue } from './queues.ts'
import { type SlurmActionRow, slurmActionItems, slurmActions } from './tables.ts'

const ROWS_AT_ONCE = 5000

/** Stores an action with its targets and enqueues it. The caller has checked the permission and the input. */
export async function insertSlurmAction(
  tx: Tx,
  ctx: Ctx,
  {
    id,
    cluster,
    action,
    reason,
    targets,
    createdBy: creator,
  }: {
    id: string
    cluster: Pick<SlurmCluster, 'id' | 'name'>
    action: SlurmAction
    /** As a person gave it. */
    reason: string
    targets: readonly string[]
    createdBy: ReturnType<typeof createdBy>
  },
): Promise<SlurmActionRow> {
  const { tenantId } = ctx
  const row = { id, tenantId, clusterId: cluster.id, verb: action.verb, action, reason, targetCount: targets.length, ...creator }
  const [inserted] = await tx.insert(slurmActions).values(row).returning()
  const items = targets.map((target) => {
    const problem = slurmWordProblem(targetKind(action.verb), target)
    return { tenantId, actionId: id, target, ...(problem ? { result: 'REFUSED' as const, message: `The name ${problem}.` } : {}) }
  })
  for (let i = 0; i < items.length; i += ROWS_AT_ONCE) await tx.insert(slurmActionItems).values(items.slice(i, i + ROWS_AT_ONCE))
  await ctx.queue.send(tx, slurmActionQueue, [inserted!])
  const names = auditedTargets(action.verb, targets)
  const details = { verb: action.verb, cluster: cluster.name, targets: names, targetCount: targets.length }
  await audit(tx, ctx, slurmActionAudit.start, { id, name: cluster.name }, details, { reason })
  ctx.notify(slurmActionChanged(inserted!))
  return inserted!
}
