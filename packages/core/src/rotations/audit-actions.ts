import { defineAuditActions } from '../audit/index.ts'

/** The start is `credential.rotate`. */
export const rotationAudit = defineAuditActions('credential_rotation', ['cancel', 'complete', 'finish', 'resume', 'switch'])
