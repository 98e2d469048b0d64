import { defineRelationsPart } from 'drizzle-orm'
import { computeNodes } from '../nodes/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, computeNodes }, (r) => ({
  alertDeliveries: { route: r.one.alertRoutes({ from: r.alertDeliveries.routeId, to: r.alertRoutes.id, optional: false }) },
  alertRoutes: { deliveries: r.many.alertDeliveries({ from: r.alertRoutes.id, to: r.alertDeliveries.routeId }) },
  alertSilences: {},
  alerts: { node: r.one.computeNodes({ from: r.alerts.nodeId, to: r.computeNodes.id }) },
}))
