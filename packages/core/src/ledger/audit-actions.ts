import { defineAuditActions } from '../audit/index.ts'

export const ledgerAudit = defineAuditActions('ledger', ['updateSettings'])
export const ledgerSinkAudit = defineAuditActions('ledger_sink', ['decrypt', 'remove', 'set'])
