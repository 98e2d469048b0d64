import { defineAuditActions } from '../audit/index.ts'

export const scheduleAudit = defineAuditActions('schedule', ['create', 'delete', 'disable', 'enable', 'fire', 'run', 'update'])
