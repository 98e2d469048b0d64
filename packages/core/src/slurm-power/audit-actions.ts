import { defineAuditActions } from '../audit/index.ts'

/** `request`: a controller suspended or resumed nodes. */
export const slurmPowerAudit = defineAuditActions('slurm_power', ['issue_token', 'revoke_tokens', 'request'])
