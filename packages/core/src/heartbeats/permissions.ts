import { definePermissions } from '../kernel/permissions.ts'

export const heartbeatPermissions = definePermissions('heartbeat', {
  accept: 'worker',
  maintain: 'worker',
})
