import { definePermissions } from '../kernel/permissions.ts'

export const rotationPermissions = definePermissions(
  'credential_rotation',
  {
    write: ['admin', 'Rotate the secrets of credentials on the hosts that use them.'],
    report: ['system', 'Record the progress of rotations.'],
  },
  { stepUp: ['write'] },
)
