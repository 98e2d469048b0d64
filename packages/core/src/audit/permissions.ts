import { definePermissions } from '../kernel/permissions.ts'

export const auditPermissions = definePermissions('audit', {
  read: ['admin', 'Read, verify and export the audit log.'],
  write: ['owner', 'Change sinks and the retention of the audit log.'],
  seal: ['system', 'Seal rows, delete old ones and send them to sinks.'],
})

export const installationAuditPermissions = definePermissions('installation_audit', {
  read: ['installation', 'Read and verify the audit entries of the installation, such as sign-ins with unknown email addresses.'],
})
