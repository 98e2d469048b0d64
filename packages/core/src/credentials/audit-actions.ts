import { defineAuditActions } from '../audit/index.ts'

export const credentialAudit = defineAuditActions('credential', [
  'approveHostKey',
  'create',
  'delete',
  'hostKeyChanged',
  'reencrypt',
  'rotateKey',
  'test',
  'update',
])
export const secretStoreAudit = defineAuditActions('secret_store', ['create', 'delete', 'update'])
