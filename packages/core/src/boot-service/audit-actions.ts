import { defineAuditActions } from '../audit/index.ts'

export const unknownMachineAudit = defineAuditActions('unknown_machine', ['accept', 'reject'])
export const bootAudit = defineAuditActions('boot', ['issueToken', 'phoneHome'])
