import { definePermissions } from '../kernel/permissions.ts'

export const auditPermissions = definePermissions('audit', {
  /** Reads, verifies and exports the audit log. */
  read: 'admin',
  /** Changes sinks and the retention of the audit log. */
  write: 'owner',
  /** Reconcilers seal rows, delete old ones and send them to sinks. */
  seal: 'system',
})
