import { definePermissions } from '../kernel/permissions.ts'

export const jobRunPermissions = definePermissions('job_run', {
  start: ['operator', 'Start and retry runs.', 'perNode'],
  cancel: ['operator', 'Cancel runs.', 'perNode'],
  report: ['system', 'Record events and results of runs.'],
})

export const retentionPermissions = definePermissions('retention', {
  write: ['admin', 'Set the days after which logs, artifacts and runs are deleted.'],
  apply: ['system', 'Delete expired logs, artifacts and runs.'],
})
