import type { SlurmVerb } from '@muster/slurm/commands'
import { clusterDeniedEverywhereReason } from '../clusters/index.ts'
import type { SlurmCluster } from '../clusters/tables.ts'
import type { Actor } from '../kernel/context.ts'
import { slurmVerbPermission } from './permissions.ts'

/** Null when the actor may do this in some partition of the cluster, else the reason. */
export function slurmActionBlockedReason(
  actor: Actor,
  { id, name, controllerNodeId }: Pick<SlurmCluster, 'id' | 'name' | 'controllerNodeId'>,
  verb: SlurmVerb,
): string | null {
  if (controllerNodeId === null) return `The cluster ${name} has no controller node. Choose one.`
  return clusterDeniedEverywhereReason(actor, slurmVerbPermission(verb), { id, name })
}
