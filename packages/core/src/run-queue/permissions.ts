import { definePermissions } from '../kernel/permissions.ts'

export const queuePermissions = definePermissions('queue', {
  write: 'admin',
  /** Release node locks of a run. */
  releaseLocks: 'admin',
  claim: 'system',
})
