import type { SlurmVerb } from '@muster/slurm/commands'
import type { SlurmCluster } from '../clusters/tables.ts'
import { type Actor, permissionDeniedReason } from '../kernel/context.ts'
import { slurmVerbPermission } from './permissions.ts'

/** Null when the actor may do this on the cluster, else the reason. */
export function slurmActionBlockedReason(
  actor: Actor,
  { name, controllerNodeId }: Pick<SlurmCluster, 'name' | 'controllerNodeId'>,
  verb: SlurmVerb,
): string | null {
  if (controllerNodeId === null) return `The cluster ${name} has no controller node. Choose one.`
  return permissionDeniedReason(actor, slurmVerbPermission(verb))
}
