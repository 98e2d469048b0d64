import { definePermissions } from '../kernel/permissions.ts'

export const templatePermissions = definePermissions('template', {
  /** A playbook runs commands on nodes and on the worker. */
  write: 'admin',
  updateBuiltIn: 'system',
})
