import { defineAuditActions } from '../audit/index.ts'

/** `step` is committed before a step changes hosts or the cluster. */
export const slurmOperationAudit = defineAuditActions('slurm_operation', ['start', 'step', 'cancel', 'finish'])
