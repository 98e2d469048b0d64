import { builder } from '../../builder.ts'
import { same } from '../shared/enum-values.ts'

export const JobRunStatus = builder.enumType('JobRunStatus', {
  description: 'Where a run stands, derived from its times, exit code and host results.',
  values: same({
    PENDING: 'Waits for a worker.',
    RUNNING: 'A worker executes it.',
    CANCELING: 'Somebody asked it to stop; its worker is stopping it.',
    SUCCEEDED: 'Every host ended well.',
    PARTIAL: 'Some hosts ended well, some failed or were unreachable.',
    FAILED: 'Every host failed or was unreachable, or the play aborted.',
    CANCELED: 'It was stopped on request.',
    TIMED_OUT: 'It took longer than its timeout and was stopped.',
    ERROR: 'It could not run, or its worker was lost.',
  }),
})

export const HostResult = builder.enumType('HostResult', {
  description: 'How a run went on one host.',
  values: same({
    PENDING: 'Its first task has not begun.',
    RUNNING: 'In the middle of the play.',
    OK: 'Its tasks went well without changes.',
    CHANGED: 'Its tasks went well and something was changed.',
    FAILED: 'A task failed.',
    UNREACHABLE: 'No connection could be made, or it broke.',
    SKIPPED: 'Every task was skipped.',
    INTERRUPTED: 'The run was ended in the middle of it; whether its tasks were done is not known.',
    NOT_RUN: 'The run ended before any task was carried out on it.',
  }),
})

export const JobRunOrderField = builder.enumType('JobRunOrderField', {
  description: 'What runs can be ordered by.',
  values: same({ CREATED_AT: 'When they were asked for.' }),
})
