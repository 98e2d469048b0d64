import { defineAuditActions } from '../audit/index.ts'

export const alertAudit = defineAuditActions('alert', ['acknowledge', 'resolve'])
export const alertRouteAudit = defineAuditActions('alert_route', ['create', 'decrypt', 'delete', 'test', 'update'])
export const alertSilenceAudit = defineAuditActions('alert_silence', ['create', 'end'])
