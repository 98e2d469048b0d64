import { definePermissions } from '../kernel/permissions.ts'

export const bootProfilePermissions = definePermissions('boot_profile', {
  write: ['admin', 'Create, change and delete boot profiles, whose kernels and cloud-init data run on nodes.'],
  assign: ['operator', 'Choose the boot profiles of nodes and groups.', 'perNode'],
})
