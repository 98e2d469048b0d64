import { definePermissions } from '../kernel/permissions.ts'

export const queuePermissions = definePermissions('queue', {
  write: 'admin',
  /** Take node locks from a run. */
  releaseLocks: 'admin',
  claim: 'system',
})
