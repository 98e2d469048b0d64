import { defineAuditActions } from '../audit/index.ts'

export const unknownMachineAudit = defineAuditActions('unknown_machine', ['accept', 'reject'])
export const bootAudit = defineAuditActions('boot', ['issueToken', 'phoneHome'])
export const bootRuleAudit = defineAuditActions('boot_rule', ['create', 'update', 'delete'])
