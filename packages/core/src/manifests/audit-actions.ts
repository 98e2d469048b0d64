import { defineAuditActions } from '../audit/index.ts'

export const manifestAudit = defineAuditActions('manifest', ['apply'])
