import { definePermissions } from '../kernel/permissions.ts'

export const groupPermissions = definePermissions('group', {
  write: 'operator',
  setSystem: 'admin',
})
