import { tenantPermissions } from '@muster/core/access'
import { isOneOf, visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, gte, isNotNull, isNull, lt, type SQL, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { limitDescription, limitedNodeIds } from '../nodes/filter.ts'
import { PAGED } from '../shared/connections.ts'
import { rowId } from '../shared/ids.ts'
import { AlertKind, AlertSeverity } from './enums.ts'
import { Alert, alertConnection } from './types.ts'

const { alerts } = schema

const AlertFilter = builder.inputType('AlertFilter', {
  description: 'Conditions on alerts; an alert must meet all of them.',
  fields: (t) => ({
    isOpen: t.boolean({ description: 'true: open; false: resolved.' }),
    isAcknowledged: t.boolean({ description: 'true: acknowledged; false: not acknowledged.' }),
    severity: t.field({ type: [AlertSeverity], description: 'One of these severities; at most 500.' }),
    kind: t.field({ type: [AlertKind], description: 'One of these kinds; at most 500.' }),
    nodeId: t.idList({ description: 'Of one of these nodes; at most 500.' }),
    limit: t.string({ description: limitDescription('Of') }),
    openedAfter: t.field({ type: 'DateTime', description: 'Opened at this time or later.' }),
    openedBefore: t.field({ type: 'DateTime', description: 'Opened before this time.' }),
  }),
})

/** @param limited query for the IDs of the nodes of `filter.limit` */
function alertConditions(filter: typeof AlertFilter.$inferInput | null | undefined, a: typeof alerts, limited: SQL | undefined) {
  if (!filter) return undefined
  const { isOpen, isAcknowledged, severity, kind, openedAfter, openedBefore } = filter
  const nodeIds = filter.nodeId?.map((id) => rowId('ComputeNode', id))
  return and(
    typeof isOpen === 'boolean' ? (isOpen ? isNull : isNotNull)(a.resolvedAt) : undefined,
    typeof isAcknowledged === 'boolean' ? (isAcknowledged ? isNotNull : isNull)(a.acknowledgedAt) : undefined,
    severity ? isOneOf(a.severity, severity, 'text') : undefined,
    kind ? isOneOf(a.kind, kind, 'text') : undefined,
    nodeIds ? isOneOf(a.nodeId, nodeIds) : undefined,
    limited ? sql`${a.nodeId} in (${limited})` : undefined,
    openedAfter ? gte(a.openedAt, openedAfter) : undefined,
    openedBefore ? lt(a.openedAt, openedBefore) : undefined,
  )
}

builder.queryField('alerts', (t) =>
  t.drizzleConnection(
    {
      type: Alert,
      description: 'Alerts, newest first.',
      authScopes: { permission: tenantPermissions.read },
      args: { filter: t.arg({ type: AlertFilter, description: 'Conditions. Default: all alerts.' }) },
      ...PAGED,
      totalCount: async (_root, { filter }, context) => {
        const { ctx } = context
        const limited = await limitedNodeIds(filter?.limit, context)
        return ctx.db.$count(alerts, and(visibleTo(ctx, alerts), alertConditions(filter, alerts, limited)))
      },
      resolve: async (query, _root, { filter }, context) => {
        const { ctx } = context
        const limited = await limitedNodeIds(filter?.limit, context)
        return ctx.db.query.alerts.findMany(
          query({
            where: { tenantId: ctx.tenantId, RAW: (a) => alertConditions(filter, a, limited) ?? sql`true` },
            orderBy: { id: 'desc' },
          }),
        )
      },
    },
    ...alertConnection,
  ),
)
