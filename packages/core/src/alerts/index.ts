export { ALERT_KINDS, type AlertKind, KINDS, SEVERITIES, type Severity } from './kinds.ts'
export { type RaisedAlert, raiseAlerts } from './raise-alerts.ts'
export { type ResolvedAlert, resolveAlerts } from './resolve-alerts.ts'
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
  SMTP_SECURITIES,
  type SmtpSecurity,
} from './tables.ts'
