import { builder } from '../../builder.ts'
import { same, upper } from '../shared/enum-values.ts'

export const JobRunStatus = builder.enumType('JobRunStatus', {
  description: 'Status of a run.',
  values: same({
    PENDING: 'Waits for a worker or for locks of its nodes.',
    RUNNING: 'A worker executes it.',
    CANCELING: 'Cancellation was requested; its worker is stopping it.',
    SUCCEEDED: 'Every host succeeded.',
    PARTIAL: 'Some hosts succeeded, some failed or were unreachable.',
    FAILED: 'Every host failed or was unreachable, or the play was aborted.',
    CANCELED: 'It was canceled.',
    TIMED_OUT: 'It exceeded its timeout and was stopped.',
    ERROR: 'The run could not start, or its worker was lost.',
  }),
})

export const HostResult = builder.enumType('HostResult', {
  description: 'Result of a run, or of a task, on one host.',
  values: same({
    PENDING: 'No task has started.',
    RUNNING: 'A task is running.',
    OK: 'All tasks succeeded without changes.',
    CHANGED: 'All tasks succeeded and something changed.',
    FAILED: 'A task failed.',
    UNREACHABLE: 'The connection failed or was lost.',
    SKIPPED: 'All tasks were skipped.',
    INTERRUPTED: 'The run ended during a task; whether the task was completed is unknown.',
    NOT_RUN: 'The run ended before any task started.',
    OFFLINE: 'The run skipped the host, because its agent was OFFLINE when the run was created.',
  }),
})

export const JobRunBatchPhase = builder.enumType('JobRunBatchPhase', {
  description: 'What a batch of Slurm nodes does.',
  values: same({
    DRAINING: 'Its nodes are being drained: Slurm starts no further jobs on them.',
    WAITING_FOR_JOBS: 'Running jobs continue; it waits for their end.',
    RUNNING: 'A run executes the playbook.',
    VERIFYING: 'The playbook has ended; its nodes must be registered in Slurm and healthy.',
    RESUMING: 'Its nodes are being resumed.',
    DONE: 'Its nodes are in service again.',
    FAILED: 'It failed; no further batch begins.',
  }),
})

export const JobRunOrderField = builder.enumType('JobRunOrderField', {
  description: 'Fields by which runs can be ordered.',
  values: same({ CREATED_AT: 'Time of creation.' }),
})

export const JobRunEventKind = builder.enumType('JobRunEventKind', {
  description: 'Kind of an event of a log.',
  values: upper({
    run_start: 'The playbook starts.',
    play_start: 'A play starts.',
    task_start: 'A task starts.',
    host_start: 'A task starts on a host.',
    ok: 'A task succeeded on a host.',
    failed: 'A task failed on a host.',
    unreachable: 'A host could not be reached.',
    skipped: 'A task was skipped on a host.',
    item_ok: 'One item of a loop succeeded.',
    item_failed: 'One item of a loop failed.',
    item_skipped: 'One item of a loop was skipped.',
    retry: 'A task failed and is retried (`until`).',
    diff: 'Changes of a file.',
    stats: 'The recap of Ansible.',
    output: 'Other output of ansible-playbook.',
    notice: 'A message of Ansible or Muster.',
    run_end: 'The run ended.',
  }),
})
