import { defineAuditActions } from '../audit/index.ts'

export const nodeAudit = defineAuditActions('node', [
  'add',
  'approveHostKey',
  'connect',
  'decommission',
  'discover',
  'endMaintenance',
  'hostKeyChanged',
  'purge',
  'ready',
  'rebooted',
  'recommission',
  'releaseLock',
  'removeBmc',
  'setBmc',
  'startMaintenance',
  'testConnection',
  'update',
])
