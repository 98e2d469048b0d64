import { definePermissions } from '../kernel/permissions.ts'

export const templatePermissions = definePermissions('template', {
  write: ['admin', 'Create, change and delete job templates, whose playbooks run commands on nodes.'],
  updateBuiltIn: ['system', 'Update built-in job templates.'],
})
