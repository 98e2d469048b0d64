import { isOneOf, visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { rowIdIfGiven } from '../shared/ids.ts'
import { AlertKind, AlertSeverity } from './enums.ts'
import { Alert, alertConnection } from './types.ts'

const { alerts } = schema

const AlertFilter = builder.inputType('AlertFilter', {
  description: 'Which alerts to list; one must fit everything that is given.',
  fields: (t) => ({
    isOpen: t.boolean({ description: 'Is not over (true), or is (false).' }),
    isAcknowledged: t.boolean({ description: 'Somebody looks after it (true), or nobody (false).' }),
    severity: t.field({ type: [AlertSeverity], description: 'Has one of these severities.' }),
    kind: t.field({ type: [AlertKind], description: 'Is of one of these kinds.' }),
    nodeId: t.id({ description: 'Is about this node.' }),
  }),
})

function alertConditions(filter: typeof AlertFilter.$inferInput | null | undefined, a: typeof alerts) {
  if (!filter) return undefined
  const { isOpen, isAcknowledged, severity, kind } = filter
  const nodeId = rowIdIfGiven('ComputeNode', filter.nodeId)
  return and(
    typeof isOpen === 'boolean' ? (isOpen ? isNull : isNotNull)(a.resolvedAt) : undefined,
    typeof isAcknowledged === 'boolean' ? (isAcknowledged ? isNotNull : isNull)(a.acknowledgedAt) : undefined,
    severity ? isOneOf(a.severity, severity, 'text') : undefined,
    kind ? isOneOf(a.kind, kind, 'text') : undefined,
    nodeId ? eq(a.nodeId, nodeId) : undefined,
  )
}

builder.queryField('alerts', (t) =>
  t.drizzleConnection(
    {
      type: Alert,
      description: 'Alerts, the newest first.',
      authScopes: { authenticated: true },
      args: { filter: t.arg({ type: AlertFilter, description: 'Which alerts.' }) },
      ...PAGED,
      totalCount: (_root, { filter }, { ctx }) =>
        ctx.db.$count(alerts, and(visibleTo(ctx, alerts), alertConditions(filter, alerts))),
      resolve: (query, _root, { filter }, { ctx }) =>
        ctx.db.query.alerts.findMany(
          query({
            where: { tenantId: ctx.tenantId, RAW: (a) => alertConditions(filter, a) ?? sql`true` },
            orderBy: { id: 'desc' },
          }),
        ),
    },
    ...alertConnection,
  ),
)
