import { definePermissions } from '../kernel/permissions.ts'

export const systemPermissions = definePermissions('system', {
  /** The findings name paths, addresses and programs of the installation. */
  check: 'owner',
})
