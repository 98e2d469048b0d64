import { type Actor, permissionDeniedReason } from '../kernel/context.ts'
import { queuePermissions } from './permissions.ts'

/** Null when `actor` may take a node away from the run that is changing it, else why not. */
export function releaseLockBlockedReason(actor: Actor, isLocked: boolean): string | null {
  if (!isLocked) return 'No run has locked the node.'
  return permissionDeniedReason(actor, queuePermissions.releaseLocks)
}
