import { definePermissions } from '../kernel/permissions.ts'

export const jobRunPermissions = definePermissions('job_run', {
  start: 'operator',
  cancel: 'operator',
  report: 'system',
})

export const retentionPermissions = definePermissions('retention', {
  write: 'admin',
  apply: 'system',
})
