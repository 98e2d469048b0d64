import { builder } from '../../../builder.ts'
import { same } from '../../shared/enum-values.ts'

export const RetryHosts = builder.enumType('RetryHosts', {
  description: 'Hosts of a run to retry.',
  values: same({
    FAILED: 'Hosts that failed or were interrupted.',
    UNREACHABLE: 'Hosts that were unreachable.',
    NOT_RUN: 'Hosts on which no task started: after a cancellation, or when too many hosts failed.',
    OFFLINE: 'Hosts that the run skipped.',
  }),
})
