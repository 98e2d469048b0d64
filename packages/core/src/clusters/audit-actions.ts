import { defineAuditActions } from '../audit/index.ts'

export const slurmClusterAudit = defineAuditActions('slurm_cluster', ['add', 'update', 'remove', 'refresh', 'lookUp'])
export const slurmControllerAudit = defineAuditActions('slurm_controller', ['test'])
export const slurmNodeAudit = defineAuditActions('slurm_node', ['match'])
