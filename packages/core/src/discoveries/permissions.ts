import { definePermissions } from '../kernel/permissions.ts'

export const discoveryPermissions = definePermissions('discovery', {
  start: 'operator',
  report: 'system',
})
