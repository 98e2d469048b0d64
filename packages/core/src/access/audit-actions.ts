import { defineAuditActions } from '../audit/index.ts'

export const apiTokenAudit = defineAuditActions('api_token', ['create', 'revoke'])
export const memberAudit = defineAuditActions('member', ['add'])
export const tenantAudit = defineAuditActions('tenant', ['create'])
