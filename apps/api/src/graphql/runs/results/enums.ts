import { builder } from '../../../builder.ts'
import { same } from '../../shared/enum-values.ts'

export const RetryHosts = builder.enumType('RetryHosts', {
  description: 'On which hosts of a run to try it again.',
  values: same({
    FAILED: 'Those that failed or were interrupted.',
    UNREACHABLE: 'Those that could not be reached.',
    BOTH: 'Those that failed, were interrupted or could not be reached.',
    NOT_RUN: 'Those that the run ended before: after a cancel, or when too many failed.',
  }),
})
