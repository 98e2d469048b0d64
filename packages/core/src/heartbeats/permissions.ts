import { definePermissions } from '../kernel/permissions.ts'

export const heartbeatPermissions = definePermissions('heartbeat', {
  accept: 'system',
  maintain: 'system',
})
