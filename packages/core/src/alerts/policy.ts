import { type Actor, whyNotAllowed } from '../context.ts'
import { KINDS } from './kinds.ts'
import type { Alert, AlertSilence } from './tables.ts'

/** Why `actor` may not acknowledge alerts, or silence them; null when allowed. */
export const whyNotAcknowledge = (actor: Actor): string | null => whyNotAllowed(actor, 'alert:write')

/** Why `actor` may not end this alert by hand. */
export function whyNotEndAlert(actor: Actor, alert: Pick<Alert, 'kind' | 'resolvedAt'>): string | null {
  if (alert.resolvedAt) return 'The alert is over already.'
  if (!('mayStay' in KINDS[alert.kind]))
    return 'The alert ends by itself when what it tells of is over; acknowledge or silence it.'
  return whyNotAllowed(actor, 'alert:end')
}

/** Why `actor` may not end this silence; null when allowed. */
export function whyNotEndSilence(actor: Actor, silence: Pick<AlertSilence, 'endsAt'>): string | null {
  const refused = whyNotAllowed(actor, 'alert:write')
  if (refused) return refused
  return silence.endsAt > new Date() ? null : `The silence ended on ${silence.endsAt.toISOString()}.`
}

/** Why `actor` may not change, test or delete routes; null when allowed. */
export const whyNotWriteRoute = (actor: Actor): string | null => whyNotAllowed(actor, 'alert_route:write')
