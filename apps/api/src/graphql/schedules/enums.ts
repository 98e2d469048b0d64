import { builder } from '../../builder.ts'
import { same, upper } from '../shared/enum-values.ts'

export const ScheduleTarget = builder.enumType('ScheduleTarget', {
  description: 'What a schedule starts.',
  values: upper({ run: 'A run of a job template.', discovery: 'Discoveries of nodes.' }),
})

export const ScheduleCatchUp = builder.enumType('ScheduleCatchUp', {
  description: 'What happens with times that passed while no worker could start anything.',
  values: upper({ skip: 'They are skipped.', run_once: 'The target is started once for all of them.' }),
})

export const ScheduleOverlap = builder.enumType('ScheduleOverlap', {
  description: 'What happens at a time while the work of an earlier time has not ended.',
  values: upper({
    skip: 'The time is skipped.',
    allow: 'The target is started. Runs that change the same nodes wait for each other.',
    cancel_previous: 'The earlier runs are canceled first.',
  }),
})

export const ScheduleFiringOutcome = builder.enumType('ScheduleFiringOutcome', {
  description: 'Result of a due time.',
  values: same({
    STARTED: 'The target was started.',
    SKIPPED: 'Nothing was started, as the schedule says.',
    FAILED: 'The target could not be started.',
  }),
})

export const ScheduleFiringReason = builder.enumType('ScheduleFiringReason', {
  description: 'Why nothing was started.',
  values: upper({
    blackout: 'A blackout covers the time.',
    overlap: 'The work of an earlier time has not ended.',
    missed: 'No worker could start it at its time, or the times were changed before.',
    refused: 'The owner may not start it any more.',
    error: 'The start failed.',
  }),
})

export const RuleLanguage = builder.enumType('RuleLanguage', {
  description: 'Language of a description.',
  values: {
    EN: { value: 'en', description: 'English.' },
    ZH_CN: { value: 'zh-CN', description: 'Simplified Chinese.' },
  } as const,
})
