export { type AuditAction, audit, defineAuditActions } from './audit.ts'
export { auditEntries } from './tables.ts'
