import { definePermissions } from '../kernel/permissions.ts'

export const groupPermissions = definePermissions('group', {
  write: ['operator', 'Create, change and delete groups.'],
  setSystem: ['admin', 'Change system groups.'],
})
