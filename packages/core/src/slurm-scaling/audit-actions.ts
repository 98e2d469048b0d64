import { defineAuditActions } from '../audit/index.ts'

export const slurmReadinessAudit = defineAuditActions('slurm_readiness', ['check'])
