export { type AuditAction, audit, defineAuditActions } from './audit.ts'
export { type AuditChange, changeOf } from './change.ts'
export { type AttemptCaller, flushAttempts, outcomeOf, recordAttempt } from './record-attempt.ts'
export { ACTOR_KINDS, AUDIT_CHANNELS, AUDIT_OUTCOMES, type AuditEntry, auditEntries } from './tables.ts'
