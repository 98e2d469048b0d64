import { type Actor, deniedEverywhereReason, permissionDeniedReason } from '../kernel/context.ts'
import type { Permission } from '../kernel/permissions.ts'
import { schedulePermissions } from './permissions.ts'

/** An object that Muster uses later with the authority of its owner. */
type Owned = { name: string; ownerId: string | null }

/** Why `actor` may not change or delete what `owned` describes; null when allowed. A grant allows it for own objects only. */
export function ownedWriteBlockedReason(actor: Actor, permission: Permission, what: string, owned: Owned): string | null {
  if (permissionDeniedReason(actor, permission) === null) return null
  const denied = deniedEverywhereReason(actor, permission)
  if (denied) return denied
  const userId = actor.kind === 'user' ? actor.id : actor.kind === 'token' ? actor.userId : null
  return userId !== null && userId === owned.ownerId
    ? null
    : `The ${what} ${owned.name} belongs to somebody else, and you hold ${permission.name} only through a grant. Ask its owner.`
}

/** Why `actor` may not change, enable, disable or delete the schedule; null when allowed. */
export const scheduleWriteBlockedReason = (actor: Actor, schedule: Owned): string | null =>
  ownedWriteBlockedReason(actor, schedulePermissions.write, 'schedule', schedule)
