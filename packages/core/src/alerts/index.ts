export { AcknowledgeAlertsInput, acknowledgeAlerts } from './acknowledge-alerts.ts'
export { alertAudit, alertRouteAudit, alertSilenceAudit } from './audit-actions.ts'
export { alertChanged, alertRouteChanged, alertSilenceChanged } from './change-events.ts'
export { type ClaimedDelivery, claimAlertDelivery } from './claim-alert-delivery.ts'
export { CreateAlertRouteInput, createAlertRoute, DEFAULT_SEVERITIES } from './create-alert-route.ts'
export { CreateAlertSilenceInput, createAlertSilence } from './create-alert-silence.ts'
export { deleteAlertRoute } from './delete-alert-route.ts'
export { endAlertSilence } from './end-alert-silence.ts'
export { type DeliveryOutcome, finishAlertDelivery, retryMs } from './finish-alert-delivery.ts'
export { releaseHeldAlerts } from './held-alerts.ts'
export { ALERT_KINDS, type AlertKind, alertMessage, KINDS, SEVERITIES, type Severity } from './kinds.ts'
export { alertPermissions, alertRoutePermissions } from './permissions.ts'
export { planAlertDeliveries } from './plan-alert-deliveries.ts'
export {
  acknowledgeBlockedReason,
  alertResolveBlockedReason,
  routeWriteBlockedReason,
  silenceEndBlockedReason,
} from './policy.ts'
export { pruneAlerts } from './prune-alerts.ts'
export { type RaisedAlert, raiseAlerts } from './raise-alerts.ts'
export { type AlertChange, currentAlertCursor, readChangedAlerts } from './read-changed-alerts.ts'
export { ResolveAlertInput, resolveAlertManually } from './resolve-alert.ts'
export { type ResolvedAlert, resolveAlerts } from './resolve-alerts.ts'
export { ROUTE_FIELDS } from './route-fields.ts'
export { silencesOfAlerts } from './silences-of-alerts.ts'
export {
  type Alert,
  type AlertDelivery,
  type AlertMatcher,
  type AlertRoute,
  type AlertSilence,
  type AlertSnapshot,
  alertDeliveries,
  alertRoutes,
  alertSilences,
  alerts,
  ROUTE_KINDS,
  type RouteKind,
  type RouteSettings,
  SMTP_SECURITIES,
  type SmtpSecurity,
} from './tables.ts'
export { TestAlertRouteInput, testAlertRoute } from './test-alert-route.ts'
export { UpdateAlertRouteInput, updateAlertRoute } from './update-alert-route.ts'
