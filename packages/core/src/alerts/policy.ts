import { type Actor, permissionDeniedReason } from '../kernel/context.ts'
import { KINDS } from './kinds.ts'
import { alertPermissions, alertRoutePermissions } from './permissions.ts'
import type { Alert, AlertSilence } from './tables.ts'

/** Why `actor` may not acknowledge alerts, or silence them; null when allowed. */
export const acknowledgeBlockedReason = (actor: Actor): string | null => permissionDeniedReason(actor, alertPermissions.write)

/** Why `actor` may not resolve this alert; null when allowed. */
export function alertResolveBlockedReason(actor: Actor, alert: Pick<Alert, 'kind' | 'resolvedAt'>): string | null {
  if (alert.resolvedAt) return 'The alert is already resolved.'
  if (!('isManuallyResolvable' in KINDS[alert.kind]))
    return 'The alert resolves automatically when its cause ends. Acknowledge or silence it.'
  return permissionDeniedReason(actor, alertPermissions.resolve)
}

/** Why `actor` may not end this silence; null when allowed. */
export function silenceEndBlockedReason(actor: Actor, silence: Pick<AlertSilence, 'endsAt'>): string | null {
  const denied = permissionDeniedReason(actor, alertPermissions.write)
  if (denied) return denied
  return silence.endsAt > new Date() ? null : `The silence ended on ${silence.endsAt.toISOString()}.`
}

/** Why `actor` may not change, test or delete routes; null when allowed. */
export const routeWriteBlockedReason = (actor: Actor): string | null => permissionDeniedReason(actor, alertRoutePermissions.write)
