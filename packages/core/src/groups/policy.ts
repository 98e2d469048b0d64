import { type Actor, permissionDeniedReason } from '../kernel/context.ts'
import { groupPermissions } from './permissions.ts'
import type { NodeGroup } from './tables.ts'

const NEXT_STEP = 'An admin can make it an ordinary group first.'

/** @param cluster the managed Slurm cluster that uses the group */
const usedReason = (group: string, cluster: string): string =>
  `The group ${group} has the nodes and the munge key of the managed Slurm cluster ${cluster}.`

/** Why `actor` may not delete this group, given its child groups and what uses it; null when allowed. */
export function deleteBlockedReason(
  actor: Actor,
  group: Pick<NodeGroup, 'name' | 'isSystem'>,
  children: string[],
  { cluster, bootRules }: { cluster: string | null; bootRules: string[] },
): string | null {
  const denied = permissionDeniedReason(actor, groupPermissions.write)
  if (denied) return `Deleting a group: ${denied}`
  if (group.isSystem) return `The group ${group.name} is a system group and cannot be deleted. ${NEXT_STEP}`
  if (cluster !== null) return `${usedReason(group.name, cluster)} Release or remove the cluster first.`
  // Rules have a permission of their own, and without the group they would accept machines into none.
  if (bootRules.length > 0)
    return `The boot rules ${bootRules.sort().join(', ')} add nodes to the group ${group.name}; change or delete them first.`
  if (children.length === 0) return null
  return `The group ${group.name} has the child groups ${children.sort().join(', ')}; move or delete them first.`
}

/** Why `actor` may not change this group; null when allowed. Some changes have further conditions. */
export function updateBlockedReason(actor: Actor): string | null {
  const denied = permissionDeniedReason(actor, groupPermissions.write)
  return denied && `Changing a group: ${denied}`
}

/** Why `actor` may not rename this group; null when allowed. */
export function renameBlockedReason(actor: Actor, group: Pick<NodeGroup, 'name' | 'isSystem'>): string | null {
  const denied = permissionDeniedReason(actor, groupPermissions.write)
  if (denied) return `Renaming a group: ${denied}`
  return group.isSystem ? `The group ${group.name} is a system group and cannot be renamed. ${NEXT_STEP}` : null
}

/** Why `actor` may not add or remove members of this group, given the managed Slurm cluster that uses it; null when allowed. */
export function setMembersBlockedReason(
  actor: Actor,
  group: Pick<NodeGroup, 'name' | 'memberQuery'>,
  cluster: string | null,
): string | null {
  const denied = permissionDeniedReason(actor, groupPermissions.write)
  if (denied) return `Changing the members of a group: ${denied}`
  if (cluster !== null && actor.kind !== 'worker')
    return `${usedReason(group.name, cluster)} Add or remove nodes with a scale-out or scale-in of the cluster.`
  if (group.memberQuery === null) return null
  return `The group ${group.name} has a member query (${group.memberQuery}); change or remove the query instead.`
}
