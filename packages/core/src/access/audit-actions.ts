import { defineAuditActions } from '../audit/index.ts'

export const apiTokenAudit = defineAuditActions('api_token', ['create', 'revoke'])
export const memberAudit = defineAuditActions('member', ['add'])
export const tenantAudit = defineAuditActions('tenant', ['create'])
export const sessionAudit = defineAuditActions('session', ['create', 'end'])
export const userAudit = defineAuditActions('user', ['setPassword'])
