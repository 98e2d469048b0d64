import { defineAuditActions } from '../audit/index.ts'

/** `execute` is committed before a command runs on the controller's host. */
export const slurmActionAudit = defineAuditActions('slurm_action', ['start', 'execute', 'finish'])
