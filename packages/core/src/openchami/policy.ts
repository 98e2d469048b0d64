import { type Actor, permissionDeniedReason } from '../kernel/context.ts'
import { openchamiPermissions } from './permissions.ts'
import type { OpenchamiTarget } from './tables.ts'

/** Why `actor` may not set, remove or check the target; null when allowed. */
export const targetWriteBlockedReason = (actor: Actor): string | null => permissionDeniedReason(actor, openchamiPermissions.write)

export type TargetState = 'PENDING' | 'IN_SYNC' | 'DRIFT' | 'FAILING'

/** What the last check found. */
export function targetState({
  checkedAt,
  error,
  driftSince,
}: Pick<OpenchamiTarget, 'checkedAt' | 'error' | 'driftSince'>): TargetState {
  if (!checkedAt) return 'PENDING'
  if (error !== null) return 'FAILING'
  return driftSince ? 'DRIFT' : 'IN_SYNC'
}
