export { AcknowledgeAlertsInput, acknowledgeAlerts } from './acknowledge-alerts.ts'
export { type ClaimedDelivery, claimAlertDelivery } from './claim-alert-delivery.ts'
export { CreateAlertRouteInput, createAlertRoute } from './create-alert-route.ts'
export { CreateAlertSilenceInput, createAlertSilence } from './create-alert-silence.ts'
export { deleteAlertRoute } from './delete-alert-route.ts'
export { EndAlertInput, endAlert } from './end-alert.ts'
export { endAlertSilence } from './end-alert-silence.ts'
export { type DeliveryOutcome, finishAlertDelivery } from './finish-alert-delivery.ts'
export { forgetOldAlerts } from './forget-old-alerts.ts'
export { ALERT_KINDS, type AlertKind, KINDS, SEVERITIES, type Severity } from './kinds.ts'
export { planAlertDeliveries } from './plan-alert-deliveries.ts'
export { whyNotAcknowledge, whyNotEndAlert, whyNotEndSilence, whyNotWriteRoute } from './policy.ts'
export { type RaisedAlert, raiseAlerts } from './raise-alerts.ts'
export { type ResolvedAlert, resolveAlerts } from './resolve-alerts.ts'
export { silencesOfAlerts } from './silences-of-alerts.ts'
export {
  type Alert,
  type AlertDelivery,
  type AlertMatcher,
  type AlertRoute,
  type AlertSilence,
  alertDeliveries,
  alertRoutes,
  alertSilences,
  alerts,
  ROUTE_KINDS,
  type RouteKind,
  type RouteSettings,
  SMTP_SECURITIES,
  type SmtpSecurity,
  type ToldAlert,
} from './tables.ts'
export { testAlertRoute } from './test-alert-route.ts'
export { UpdateAlertRouteInput, updateAlertRoute } from './update-alert-route.ts'
