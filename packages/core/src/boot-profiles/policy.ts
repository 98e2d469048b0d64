import { type Actor, deniedEverywhereReason, permissionDeniedReason } from '../kernel/context.ts'
import { listedNames } from '../kernel/names.ts'
import { bootProfilePermissions } from './permissions.ts'
import type { BootProfile } from './tables.ts'

type Named = Pick<BootProfile, 'name'>

/** Why `actor` may not create or change boot profiles; null when allowed. */
export function writeBootProfileBlockedReason(actor: Actor): string | null {
  const denied = permissionDeniedReason(actor, bootProfilePermissions.write)
  return denied && `Changing a boot profile: ${denied}`
}

/** Why `actor` may not assign boot profiles to any node; null when allowed. */
export function assignBootProfileBlockedReason(actor: Actor): string | null {
  const denied = deniedEverywhereReason(actor, bootProfilePermissions.assign)
  return denied && `Assigning a boot profile: ${denied}`
}

/** Why `actor` may not delete this profile, given the names of its children and of what it is assigned to; null when allowed. */
export function deleteBootProfileBlockedReason(
  actor: Actor,
  { name }: Named,
  children: readonly string[],
  assignedTo: readonly string[],
): string | null {
  const denied = permissionDeniedReason(actor, bootProfilePermissions.write)
  if (denied) return `Deleting a boot profile: ${denied}`
  if (children.length > 0)
    return `The boot profile ${name} is the parent of ${listedNames(children)}; give ${children.length === 1 ? 'it' : 'them'} another parent first.`
  if (assignedTo.length > 0) return `The boot profile ${name} is assigned to ${listedNames(assignedTo)}; unassign it first.`
  return null
}
