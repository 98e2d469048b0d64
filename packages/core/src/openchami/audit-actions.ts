import { defineAuditActions } from '../audit/index.ts'

export const openchamiTargetAudit = defineAuditActions('openchami_target', ['check', 'decrypt', 'push', 'remove', 'set'])
