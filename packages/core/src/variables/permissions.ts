import { definePermissions } from '../kernel/permissions.ts'

export const variablePermissions = definePermissions('vars', {
  write: ['operator', 'Set variables.', 'perNode'],
  writeReserved: ['admin', 'Set variables that Ansible itself reads.'],
  setMerge: ['admin', 'Set how dictionaries of different layers combine.'],
})
