import { type Actor, whyNotAllowed } from '../context.ts'
import type { NodeGroup } from './tables.ts'

/** Why `actor` may not delete this group; null when allowed. */
export function whyNotDelete(actor: Actor, group: Pick<NodeGroup, 'name' | 'isSystem'>): string | null {
  const refused = whyNotAllowed(actor, 'group:write')
  if (refused) return `Deleting a group: ${refused}.`
  return group.isSystem ? `The group ${group.name} belongs to Muster itself and stays.` : null
}
