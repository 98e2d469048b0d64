import { definePermissions } from '../kernel/permissions.ts'

export const rotationPermissions = definePermissions('credential_rotation', {
  write: 'admin',
  report: 'system',
})
