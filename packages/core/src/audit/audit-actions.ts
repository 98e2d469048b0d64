import { defineAuditActions } from './audit.ts'

export const auditLogAudit = defineAuditActions('audit_log', ['export', 'prune'])
