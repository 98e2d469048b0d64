import { type Actor, permissionDeniedReason } from '../kernel/context.ts'
import { queuePermissions } from './permissions.ts'

/** Null when `actor` may release the lock of a node, else the reason. */
export function releaseLockBlockedReason(actor: Actor, isLocked: boolean): string | null {
  if (!isLocked) return 'No run has locked the node.'
  return permissionDeniedReason(actor, queuePermissions.releaseLocks)
}
