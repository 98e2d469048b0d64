import { defineAuditActions } from '../audit/index.ts'

export const triggerAudit = defineAuditActions('trigger', ['create', 'delete', 'fire', 'rotateSecret', 'update'])
