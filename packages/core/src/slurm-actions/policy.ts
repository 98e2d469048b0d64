import type { SlurmVerb } from '@muster/slurm/commands'
import { clusterDeniedEverywhereReason, deniedTargets, slurmMessages } from '../clusters/index.ts'
import type { SlurmCluster } from '../clusters/tables.ts'
import type { Actor } from '../kernel/context.ts'
import { slurmVerbPermission } from './permissions.ts'

/** Null when the actor may do this in some partition of the cluster, else the reason. */
export function slurmActionBlockedReason(
  actor: Actor,
  { id, name, controllerNodeId }: Pick<SlurmCluster, 'id' | 'name' | 'controllerNodeId'>,
  verb: SlurmVerb,
): string | null {
  if (controllerNodeId === null) return slurmMessages.noController({ name })
  return clusterDeniedEverywhereReason(actor, slurmVerbPermission(verb), { id, name })
}

/** Null when the actor may do this with a node, job or partition that is in these partitions, else the reason. */
export function slurmTargetBlockedReason(
  actor: Actor,
  cluster: Pick<SlurmCluster, 'id' | 'name' | 'controllerNodeId'>,
  verb: SlurmVerb,
  partitions: readonly string[],
): string | null {
  const [denied] = deniedTargets({ actor }, slurmVerbPermission(verb), cluster, [{ target: '', partitions }])
  return slurmActionBlockedReason(actor, cluster, verb) ?? denied?.reason ?? null
}
