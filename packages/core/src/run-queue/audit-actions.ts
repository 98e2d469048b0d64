import { defineAuditActions } from '../audit/index.ts'

export const queueAudit = defineAuditActions('queue', ['limit', 'pause', 'resume'])
