import { defineAuditActions } from '../audit/index.ts'

export const jobRunAudit = defineAuditActions('job_run', ['cancel', 'decryptSecrets', 'downloadLog', 'execute', 'retry', 'start'])
export const jobArtifactAudit = defineAuditActions('job_artifact', ['download'])
export const retentionAudit = defineAuditActions('retention', ['set'])
