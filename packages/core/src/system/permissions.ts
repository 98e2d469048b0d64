import { definePermissions } from '../kernel/permissions.ts'

export const systemPermissions = definePermissions('system', {
  check: ['installation', 'Check the installation, which serves all tenants.'],
})
