import { defineAuditActions } from '../audit/index.ts'

export const credentialAudit = defineAuditActions('credential', [
  'approveHostKey',
  'create',
  'decrypt',
  'delete',
  'hostKeyChanged',
  'reencrypt',
  'rotate',
  'rotateKey',
  'test',
  'update',
])
export const secretStoreAudit = defineAuditActions('secret_store', ['create', 'delete', 'update'])
