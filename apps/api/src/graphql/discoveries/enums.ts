import { builder } from '../../builder.ts'
import { same, upper } from '../shared/enum-values.ts'

export const DiscoveryStatus = builder.enumType('DiscoveryStatus', {
  description: 'Where a discovery stands.',
  values: same({
    PENDING: 'Waits for a worker.',
    RUNNING: 'The probe is on the node.',
    SUCCEEDED: 'Its result is there.',
    FAILED: 'Its error says why there is no result.',
  }),
})

export const DiscoveryReason = builder.enumType('DiscoveryReason', {
  description: 'Why a discovery was made.',
  values: upper({
    onboarding: 'The node became ready for the first time.',
    refresh: 'Somebody asked for it.',
    sweep: 'A look at all nodes, made from time to time.',
    run: 'A run of the template `collect_facts`.',
  }),
})

export const ToolState = builder.enumType('ToolState', {
  description: "How a vendor's tool answered.",
  values: same({
    ABSENT: 'It is not installed.',
    OK: 'It answered.',
    FAILED: 'It ended with an error, for example because it does not fit its driver.',
    FOREIGN: 'Something of that name belongs to another vendor.',
    TIMED_OUT: 'It did not answer in time.',
  }),
})
