import { type Actor, permissionDeniedReason } from '../kernel/context.ts'
import { bootRulePermissions, unknownMachinePermissions } from './permissions.ts'
import type { UnknownMachine } from './tables.ts'

/** Why `actor` may not accept this machine; null when allowed. */
export function acceptUnknownMachineBlockedReason(
  actor: Actor,
  { mac, state }: Pick<UnknownMachine, 'mac' | 'state'>,
): string | null {
  const denied = permissionDeniedReason(actor, unknownMachinePermissions.write)
  if (denied) return `Accepting a machine: ${denied}`
  return state === 'ACCEPTED' ? `The machine ${mac} is already accepted.` : null
}

/** Why `actor` may not reject this machine; null when allowed. */
export function rejectUnknownMachineBlockedReason(
  actor: Actor,
  { mac, state }: Pick<UnknownMachine, 'mac' | 'state'>,
): string | null {
  const denied = permissionDeniedReason(actor, unknownMachinePermissions.write)
  if (denied) return `Rejecting a machine: ${denied}`
  if (state === 'ACCEPTED') return `The machine ${mac} is already accepted; remove its MAC from the node instead.`
  return state === 'REJECTED' ? `The machine ${mac} is already rejected.` : null
}

/** Why `actor` may not create, change or delete rules; null when allowed. */
export function writeBootRuleBlockedReason(actor: Actor): string | null {
  const denied = permissionDeniedReason(actor, bootRulePermissions.write)
  return denied && `Changing boot rules: ${denied}`
}
