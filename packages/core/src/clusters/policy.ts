import { type Actor, permissionDeniedReason } from '../kernel/context.ts'
import { clusterDeniedReason } from './authorize-cluster.ts'
import { slurmMessages } from './messages/index.ts'
import { slurmClusterPermissions } from './permissions.ts'
import type { SlurmCluster } from './tables.ts'

/** Null when `actor` may add and change clusters, else the reason. */
export const updateClusterBlockedReason = (actor: Actor): string | null =>
  permissionDeniedReason(actor, slurmClusterPermissions.write)

/** Why the last refresh read with commands what slurmrestd should report; null when slurmrestd reported it, or is not used. */
export function slurmrestdProblem({ queries }: Pick<SlurmCluster, 'queries'>): string | null {
  const failed = queries.find(({ query, state }) => query === 'slurmrestd' && state === 'FAILED')
  return failed ? [failed.detail, failed.hint].filter(Boolean).join(' ') : null
}

/** Null when `actor` may read a cluster at once, else the reason. */
export function refreshClusterBlockedReason(
  actor: Actor,
  { id, name, controllerNodeId, backupNodeId }: Pick<SlurmCluster, 'id' | 'name' | 'controllerNodeId' | 'backupNodeId'>,
): string | null {
  if (controllerNodeId === null && backupNodeId === null) return slurmMessages.noController({ name })
  return clusterDeniedReason(actor, slurmClusterPermissions.refresh, { id, name })
}
