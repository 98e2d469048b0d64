import { defineAuditActions } from '../audit/index.ts'

export const slurmConfigAudit = defineAuditActions('slurm_config', ['create', 'rolled_out'])
export const slurmConfigSnippetAudit = defineAuditActions('slurm_config_snippet', ['create', 'update', 'delete'])
