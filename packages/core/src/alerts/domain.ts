import { defineDomain } from '../kernel/domain.ts'
import { alertAudit, alertRouteAudit, alertSilenceAudit } from './audit-actions.ts'
import { alertChanged, alertRouteChanged, alertSilenceChanged } from './change-events.ts'
import { alertPermissions, alertRoutePermissions } from './permissions.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const alertsDomain = defineDomain({
  name: 'alerts',
  permissions: { alertPermissions, alertRoutePermissions },
  auditActions: { alertAudit, alertRouteAudit, alertSilenceAudit },
  changeEvents: [alertChanged, alertSilenceChanged, alertRouteChanged],
  tables,
  relations,
  graphqlIds: {
    Alert: tables.alerts,
    AlertSilence: tables.alertSilences,
    AlertRoute: tables.alertRoutes,
    AlertDelivery: tables.alertDeliveries,
  },
})
