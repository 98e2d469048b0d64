import { defineAuditActions } from '../audit/index.ts'

export const slurmClusterAudit = defineAuditActions('slurm_cluster', ['add', 'update', 'remove', 'refresh', 'test'])
