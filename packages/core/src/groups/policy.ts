import { type Actor, permissionDeniedReason } from '../kernel/context.ts'
import { groupPermissions } from './permissions.ts'
import type { NodeGroup } from './tables.ts'

const NEXT_STEP = 'An admin can make it an ordinary group first.'

/** Why `actor` may not delete this group, given its child groups; null when allowed. */
export function deleteBlockedReason(
  actor: Actor,
  group: Pick<NodeGroup, 'name' | 'isSystem'>,
  children: string[],
): string | null {
  const denied = permissionDeniedReason(actor, groupPermissions.write)
  if (denied) return `Deleting a group: ${denied}`
  if (group.isSystem) return `The group ${group.name} is a system group and cannot be deleted. ${NEXT_STEP}`
  if (children.length === 0) return null
  return `The group ${group.name} has the child groups ${children.sort().join(', ')}; move or delete them first.`
}

/** Why `actor` may not rename this group; null when allowed. */
export function renameBlockedReason(actor: Actor, group: Pick<NodeGroup, 'name' | 'isSystem'>): string | null {
  const denied = permissionDeniedReason(actor, groupPermissions.write)
  if (denied) return `Renaming a group: ${denied}`
  return group.isSystem ? `The group ${group.name} is a system group and cannot be renamed. ${NEXT_STEP}` : null
}

/** Why `actor` may not add or remove members of this group; null when allowed. */
export function setMembersBlockedReason(actor: Actor, group: Pick<NodeGroup, 'name' | 'memberQuery'>): string | null {
  const denied = permissionDeniedReason(actor, groupPermissions.write)
  if (denied) return `Changing the members of a group: ${denied}`
  if (group.memberQuery === null) return null
  return `The group ${group.name} has a member query (${group.memberQuery}); change or remove the query instead.`
}
