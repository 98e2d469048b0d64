import { defineAuditActions } from '../audit/index.ts'

export const workerAudit = defineAuditActions('worker', ['drain', 'undrain'])
