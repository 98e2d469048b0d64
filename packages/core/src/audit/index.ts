export { type AuditAction, audit, defineAuditActions } from './audit.ts'
export { auditLogAudit } from './audit-actions.ts'
export { CHAIN_COLUMNS, type ChainRow, GENESIS, verificationKey } from './chain.ts'
export { type AuditChange, changeOf } from './change.ts'
export { type AuditRecord, exportAuditRecords } from './export-audit-records.ts'
export { auditPermissions, installationAuditPermissions } from './permissions.ts'
export { pruneAuditEntries } from './prune-audit-entries.ts'
export { type AttemptCaller, type AttemptEntry, flushAttempts, outcomeOf, recordAttempt } from './record-attempt.ts'
export { sealAuditEntries } from './seal-audit-entries.ts'
export { auditSettings } from './settings.ts'
export { ACTOR_KINDS, type ActorKind, AUDIT_CHANNELS, AUDIT_OUTCOMES, type AuditEntry, auditEntries } from './tables.ts'
export {
  CHAIN_PROBLEMS,
  type ChainProblem,
  type ChainVerification,
  MAX_VERIFY_ROWS,
  verifyAuditChain,
} from './verify-audit-chain.ts'
