import { type Actor, permissionDeniedReason } from '../kernel/context.ts'
import { slurmClusterPermissions } from './permissions.ts'
import type { SlurmCluster } from './tables.ts'

/** Null when `actor` may add and change clusters, else the reason. */
export const updateClusterBlockedReason = (actor: Actor): string | null =>
  permissionDeniedReason(actor, slurmClusterPermissions.write)

/** Null when `actor` may read a cluster at once, else the reason. */
export function refreshClusterBlockedReason(
  actor: Actor,
  { name, controllerNodeId }: Pick<SlurmCluster, 'name' | 'controllerNodeId'>,
): string | null {
  if (controllerNodeId === null) return `The cluster ${name} has no controller node. Choose one.`
  return permissionDeniedReason(actor, slurmClusterPermissions.refresh)
}
