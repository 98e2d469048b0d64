import { defineAuditActions } from '../audit/index.ts'

export const nodeGroupAudit = defineAuditActions('node_group', ['create', 'delete', 'setMembers', 'update'])
