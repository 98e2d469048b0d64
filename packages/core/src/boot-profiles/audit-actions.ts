import { defineAuditActions } from '../audit/index.ts'

export const bootProfileAudit = defineAuditActions('boot_profile', [
  'create',
  'update',
  'restore',
  'delete',
  'assign',
  'unassign',
])
