import { definePermissions } from '../kernel/permissions.ts'

export const queuePermissions = definePermissions('queue', {
  write: ['admin', 'Pause and resume the run queue.'],
  limit: ['installation', 'Set the quota of concurrent runs of a tenant.'],
  releaseLocks: ['admin', 'Release node locks of a run.'],
  claim: ['system', 'Claim runs.'],
})
