import { defineAuditActions } from '../audit/index.ts'

export const jobRunAudit = defineAuditActions('job_run', ['cancel', 'retry', 'start'])
export const retentionAudit = defineAuditActions('retention', ['set'])
