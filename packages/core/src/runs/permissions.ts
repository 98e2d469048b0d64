import { definePermissions } from '../kernel/permissions.ts'

export const jobRunPermissions = definePermissions('job_run', {
  start: 'operator',
  cancel: 'operator',
  report: 'worker',
})

export const retentionPermissions = definePermissions('retention', {
  write: 'admin',
  apply: 'worker',
})
