import { definePermissions } from '../kernel/permissions.ts'

export const auditPermissions = definePermissions('audit', {
  read: ['admin', 'Read, verify and export the audit log.'],
  write: ['owner', 'Change sinks and the retention of the audit log.'],
  seal: ['system', 'Seal rows, delete old ones and send them to sinks.'],
})
