import { type Actor, whyNotAllowed } from '../context.ts'
import type { NodeGroup } from './tables.ts'

/** Why `actor` may not delete this group, below which these groups hang; null when allowed. */
export function whyNotDelete(actor: Actor, group: Pick<NodeGroup, 'name' | 'isSystem'>, children: string[]): string | null {
  const refused = whyNotAllowed(actor, 'group:write')
  if (refused) return `Deleting a group: ${refused}.`
  if (group.isSystem) return `The group ${group.name} belongs to Muster itself and stays.`
  if (children.length === 0) return null
  return `Below the group ${group.name} are ${children.sort().join(', ')}; hang them elsewhere or delete them first.`
}

/** Why `actor` may not give this group another name; null when allowed. */
export function whyNotRename(actor: Actor, group: Pick<NodeGroup, 'name' | 'isSystem'>): string | null {
  const refused = whyNotAllowed(actor, 'group:write')
  if (refused) return `Renaming a group: ${refused}.`
  return group.isSystem ? `The group ${group.name} belongs to Muster itself and keeps its name.` : null
}

/** Why `actor` may not put nodes into this group, or take nodes out, by hand; null when allowed. */
export function whyNotSetMembers(actor: Actor, group: Pick<NodeGroup, 'name' | 'memberQuery'>): string | null {
  const refused = whyNotAllowed(actor, 'group:write')
  if (refused) return `Changing who is in a group: ${refused}.`
  if (group.memberQuery === null) return null
  return `The nodes of ${group.name} are those that fit its query (${group.memberQuery}); change the query, or take it away first.`
}
