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
  const refused = permissionDeniedReason(actor, groupPermissions.write)
  if (refused) return `Deleting a group: ${refused}`
  if (group.isSystem) return `The group ${group.name} is a system group and cannot be deleted. ${NEXT_STEP}`
  if (children.length === 0) return null
  return `Below the group ${group.name} are ${children.sort().join(', ')}; hang them elsewhere or delete them first.`
}

/** Why `actor` may not rename this group; null when allowed. */
export function renameBlockedReason(actor: Actor, group: Pick<NodeGroup, 'name' | 'isSystem'>): string | null {
  const refused = permissionDeniedReason(actor, groupPermissions.write)
  if (refused) return `Renaming a group: ${refused}`
  return group.isSystem ? `The group ${group.name} is a system group and keeps its name. ${NEXT_STEP}` : null
}

/** Why `actor` may not add or remove members of this group; null when allowed. */
export function setMembersBlockedReason(actor: Actor, group: Pick<NodeGroup, 'name' | 'memberQuery'>): string | null {
  const refused = permissionDeniedReason(actor, groupPermissions.write)
  if (refused) return `Changing who is in a group: ${refused}`
  if (group.memberQuery === null) return null
  return `The nodes of ${group.name} are those that fit its query (${group.memberQuery}); change the query, or take it away first.`
}
