import { defineAuditActions } from '../audit/index.ts'

export const auditSinkAudit = defineAuditActions('audit_sink', ['create', 'decrypt', 'delete', 'test', 'update'])
