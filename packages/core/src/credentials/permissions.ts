import { definePermissions } from '../kernel/permissions.ts'

export const credentialPermissions = definePermissions(
  'credential',
  {
    read: ['viewer', 'List credentials and secret stores, without their secrets.'],
    write: ['admin', 'Create, change and delete credentials and secret stores.'],
    use: ['admin', 'Attach passwords to nodes, test them on nodes, and approve host keys.', 'perNode'],
    rotateKey: ['installation', 'Rotate the key that encrypts the secrets of all tenants.'],
    decrypt: ['worker', 'Decrypt secrets.'],
    reencrypt: ['worker', 'Re-encrypt secrets.'],
  },
  { stepUp: ['write'] },
)
