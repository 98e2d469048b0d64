import { defineAuditActions } from '../audit/index.ts'

/** `send` is committed before a command goes to a BMC. */
export const powerRunAudit = defineAuditActions('power_run', ['start', 'send', 'cancel', 'finish'])
export const bmcAudit = defineAuditActions('bmc', ['read'])
export const bmcDiscoveryAudit = defineAuditActions('bmc_discovery', ['start', 'cancel', 'finish'])
