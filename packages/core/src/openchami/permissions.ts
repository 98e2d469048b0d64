import { definePermissions } from '../kernel/permissions.ts'

export const openchamiPermissions = definePermissions('openchami_target', {
  write: ['admin', 'Set the OpenCHAMI target, compare with it, and push nodes, groups and boot parameters to it.'],
  report: ['system', 'Compare with the OpenCHAMI target, and push to it.'],
})
