import { builder } from '../../builder.ts'
import { upper } from '../shared/enum-values.ts'

export const AlertSeverity = builder.enumType('AlertSeverity', {
  description: 'How bad a thing is, mildest first.',
  values: upper({ info: 'Good to know.', warning: 'To be looked at.', critical: 'To be looked at now.' }),
})

export const AlertKind = builder.enumType('AlertKind', {
  description: 'What an alert tells of.',
  values: upper({
    stale: 'The node missed heartbeats.',
    offline: 'The node was given up.',
    recovered: 'A node that was stale or offline is heard again.',
    anomaly: 'Its heartbeats come at unusual intervals.',
    sequence_gap: 'Heartbeats that it sent did not arrive.',
    key_changed: 'An agent came with another key than the allowed one.',
    key_shared: 'Two machines beat with one key at the same time.',
    fingerprint_changed: 'An agent runs on other hardware than before.',
    clock_skew: 'Its clock is off.',
    accelerator_lost: 'An accelerator that was there does not answer any more.',
    accelerator_count_changed: 'It has another number of accelerators than before.',
    ingest_silent: 'So many nodes fell silent at once that Muster itself may be cut off.',
  }),
})
