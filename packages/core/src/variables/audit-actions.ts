import { defineAuditActions } from '../audit/index.ts'

export const varMergeAudit = defineAuditActions('tenant', ['setVarMerge'])
export const variableAudit = defineAuditActions('vars', ['decrypt', 'restore', 'set', 'setSecret', 'unsetSecret'])
