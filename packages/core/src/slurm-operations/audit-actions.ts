import { defineAuditActions } from '../audit/index.ts'

/** `step` is committed before a step changes hosts or the cluster, and `apply_state` before Salt gets the job. */
export const slurmOperationAudit = defineAuditActions('slurm_operation', ['start', 'step', 'apply_state', 'cancel', 'finish'])
