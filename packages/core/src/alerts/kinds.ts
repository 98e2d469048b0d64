/** How bad a thing is, mildest first. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

type Kind = {
  severity: Severity
  /** In words, as a sentence about the node goes on: "gpu001 …". */
  says: string
  /** An event has no end that anybody sees: it counts as over when it has not come again for a while. */
  isEvent?: true
  /** It may be about something that was done on purpose and stays so: then somebody has to end it. */
  isManuallyResolvable?: true
}

/** Everything that is told to people without their asking. */
export const KINDS = {
  stale: { severity: 'warning', says: 'has missed its heartbeats' },
  offline: { severity: 'critical', says: 'is offline' },
  recovered: { severity: 'info', says: 'is heard again', isEvent: true },
  anomaly: { severity: 'info', says: 'sends its heartbeats at unusual intervals', isEvent: true },
  sequence_gap: { severity: 'warning', says: 'has sent heartbeats that did not arrive', isEvent: true },
  key_changed: { severity: 'critical', says: 'shows another key than the one that is allowed' },
  key_shared: { severity: 'critical', says: 'has a key that another machine beats with, too', isEvent: true },
  fingerprint_changed: { severity: 'critical', says: 'is other hardware than before' },
  clock_skew: { severity: 'warning', says: 'has a clock that is off' },
  accelerator_lost: { severity: 'critical', says: 'has lost an accelerator', isManuallyResolvable: true },
  accelerator_count_changed: { severity: 'warning', says: 'has another number of accelerators than before', isEvent: true },
  ingest_silent: { severity: 'critical', says: 'Too many nodes fell silent at once: heartbeats may not reach Muster' },
} as const satisfies Record<string, Kind>

export type AlertKind = keyof typeof KINDS
export const ALERT_KINDS = Object.keys(KINDS) as [AlertKind, ...AlertKind[]]
export const EVENT_KINDS = ALERT_KINDS.filter((kind) => 'isEvent' in KINDS[kind])
