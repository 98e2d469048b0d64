import { definePermissions } from '../kernel/permissions.ts'

export const heartbeatPermissions = definePermissions('heartbeat', {
  accept: ['system', 'Store heartbeats.'],
  maintain: ['system', 'Prune heartbeats.'],
})
