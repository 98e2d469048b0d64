import type { z } from 'zod'
import { idempotent, oneRow } from '../idempotency/index.ts'
import { authorizeSomewhere, type Ctx, createdBy } from '../kernel/context.ts'
import { newId } from '../kernel/db/columns.ts'
import { Conflict, InvalidInput, parseInput } from '../kernel/errors.ts'
import { permittedTargets } from './authorize-action.ts'
import { actionOf, checkFields, isSelected, markedReason, type SlurmActionRequest, StartSlurmActionInput } from './input.ts'
import { insertSlurmAction } from './insert-slurm-action.ts'
import { slurmVerbPermission } from './permissions.ts'
import { type SlurmActionRow, slurmActions } from './tables.ts'
import { findCluster, findTargets, fingerprintOf } from './targets.ts'

/**
 * Starts an action on a cluster. A worker runs its commands, and stores for each target what the controller reports afterwards.
 * Its targets must be in partitions for which the caller holds the permission.
 * @throws Forbidden; NotFound the cluster; Conflict it has no controller node, or other targets match than in the preview; InvalidInput
 */
export async function startSlurmAction(ctx: Ctx, input: z.input<typeof StartSlurmActionInput>): Promise<SlurmActionRow> {
  authorizeSomewhere(ctx, slurmVerbPermission(input.verb))
  const { idempotencyKey, reason, fingerprint, ...request } = parseInput(StartSlurmActionInput, input)
  checkFields(request)
  const store = oneRow(slurmActions)
  const key = { verb: 'startSlurmAction', key: idempotencyKey, input: { ...request, reason, fingerprint }, result: store }
  return idempotent(ctx, key, async (tx, ctx) => {
    const id = newId()
    const action = actionOf(request, markedReason(reason, id))
    const cluster = await findCluster(tx, ctx, request.clusterId)
    const found = await findTargets(tx, cluster, request, action)
    const { targets } = await permittedTargets(tx, ctx, cluster, request, found)
    assertPreviewed(request, fingerprint, fingerprintOf(request, targets))
    return insertSlurmAction(tx, ctx, {
      id,
      cluster,
      action,
      reason,
      targets: targets.map(({ target }) => target),
      createdBy: createdBy(ctx),
    })
  })
}

/** Targets that the caller did not name must be those that a preview showed. */
function assertPreviewed(request: SlurmActionRequest, fingerprint: string | null | undefined, current: string): void {
  if (!fingerprint && !isSelected(request))
    throw new InvalidInput([{ path: 'fingerprint', message: 'is missing: preview the action, which shows its targets' }])
  if (fingerprint && fingerprint !== current)
    throw new Conflict('Other targets match now than in the preview. Preview the action again.')
}
