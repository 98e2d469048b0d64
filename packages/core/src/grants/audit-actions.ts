import { defineAuditActions } from '../audit/index.ts'

export const grantAudit = defineAuditActions('grant', ['create', 'delete'])
