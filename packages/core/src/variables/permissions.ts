import { definePermissions } from '../kernel/permissions.ts'

export const variablePermissions = definePermissions('vars', {
  write: 'operator',
  /** Variables that Ansible itself reads. */
  writeReserved: 'admin',
  setMerge: 'admin',
})
