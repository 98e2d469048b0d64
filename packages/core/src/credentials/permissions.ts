import { definePermissions } from '../kernel/permissions.ts'

export const credentialPermissions = definePermissions('credential', {
  write: 'admin',
  decrypt: 'worker',
  reencrypt: 'worker',
})
