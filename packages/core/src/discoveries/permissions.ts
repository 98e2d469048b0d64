import { definePermissions } from '../kernel/permissions.ts'

export const discoveryPermissions = definePermissions('discovery', {
  start: ['operator', 'Discover nodes.', 'perNode'],
  report: ['system', 'Record discoveries.'],
})
