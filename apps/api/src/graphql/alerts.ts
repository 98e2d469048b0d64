import { acknowledgeAlerts, endAlert, KINDS, whyNotAcknowledge, whyNotEndAlert } from '@muster/core/alerts'
import { isOneOf, schema, visibleTo } from '@muster/core/db'
import { Conflict, NotFound } from '@muster/core/errors'
import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { builder } from '../builder.ts'
import { changes } from './changes.ts'
import { connectionTypes, PAGED } from './connections.ts'
import { AlertKind, AlertSeverity } from './enums.ts'
import { COMMON } from './errors.ts'
import { rowId, rowIdIfGiven } from './ids.ts'
import { ComputeNode } from './nodes.ts'

const { alerts } = schema

export const Alert = builder.drizzleNode('alerts', {
  name: 'Alert',
  description: 'Something that a person should know. It ends by itself when what it tells of is over.',
  select: { columns: { id: true } },
  id: { column: (alert) => alert.id },
  fields: (t) => ({
    kind: t.expose('kind', { type: AlertKind, description: 'What it tells of.' }),
    severity: t.expose('severity', { type: AlertSeverity, description: 'How bad it is.' }),
    node: t.relation('node', { nullable: true, description: 'The node that it is about; null: a whole cluster, or all nodes.' }),
    cluster: t.exposeString('cluster', {
      nullable: true,
      description: 'The cluster that it is about, when it is about a whole one.',
    }),
    text: t.string({
      description: 'What it says, as a sentence without its full stop.',
      select: { columns: { kind: true, cluster: true }, with: { node: { columns: { name: true } } } },
      resolve: ({ kind, cluster, node }) =>
        [node?.name ?? (cluster && `${cluster}:`), KINDS[kind].says].filter(Boolean).join(' '),
    }),
    evidence: t.expose('evidence', { type: 'JSON', description: 'What was seen, an object.' }),
    openedAt: t.expose('openedAt', { type: 'DateTime', description: 'When it began.' }),
    lastAt: t.expose('lastAt', { type: 'DateTime', description: 'When it was last seen.' }),
    count: t.exposeInt('count', { description: 'How often it was seen since it began.' }),
    resolvedAt: t.expose('resolvedAt', { type: 'DateTime', nullable: true, description: 'When it was over; null: it is not.' }),
    acknowledgedAt: t.expose('acknowledgedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When somebody said that they look after it; null: nobody did.',
    }),
    acknowledgedByName: t.exposeString('acknowledgedByName', { nullable: true, description: 'Who said so.' }),
    acknowledgement: t.exposeString('acknowledgement', { nullable: true, description: 'What they said.' }),
    acknowledgeBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not acknowledge or silence it; null: allowed.',
      resolve: (_alert, _args, { ctx }) => whyNotAcknowledge(ctx.actor),
    }),
    endBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not end it by hand; null: allowed.',
      select: { columns: { kind: true, resolvedAt: true } },
      resolve: (alert, _args, { ctx }) => whyNotEndAlert(ctx.actor, alert),
    }),
  }),
})

export const alertConnection = connectionTypes(Alert, 'Alert', 'alerts')

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

builder.drizzleObjectFields(ComputeNode, (t) => ({
  alerts: t.relatedConnection(
    'alerts',
    { description: 'Alerts about it, the newest first.', totalCount: true, query: { orderBy: { id: 'desc' } }, ...PAGED },
    ...alertConnection,
  ),
}))

const AcknowledgedAlerts = builder
  .objectRef<{ alerts: Awaited<ReturnType<typeof acknowledgeAlerts>> }>('AcknowledgedAlerts')
  .implement({
    description: 'Alerts that somebody looks after now.',
    fields: (t) => ({ alerts: t.expose('alerts', { type: [Alert], description: 'The alerts.' }) }),
  })

builder.mutationField('acknowledgeAlerts', (t) =>
  t.field({
    type: AcknowledgedAlerts,
    description:
      'Say that one looks after alerts. They stay open until what they tell of is over; a later note replaces an earlier.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, NotFound] },
    args: {
      ids: t.arg.idList({ required: true, description: 'Which alerts.' }),
      note: t.arg.string({ description: 'What is known, and what is being done.' }),
    },
    resolve: async (_root, { ids, note }, { ctx }) => ({
      alerts: await acknowledgeAlerts(ctx, { ids: ids.map((id) => rowId('Alert', id)), note: note ?? null }),
    }),
  }),
)

builder.mutationField('endAlert', (t) =>
  t.field({
    type: Alert,
    description:
      'End an alert of something that is meant to stay: accelerators that were taken out on purpose. What the node has now is expected of it from here on.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: {
      id: t.arg.id({ required: true, description: 'Which alert.' }),
      note: t.arg.string({ description: 'Why it is meant to stay.' }),
    },
    resolve: (_root, { id, note }, { ctx }) => endAlert(ctx, { id: rowId('Alert', id), note }),
  }),
)

builder.subscriptionField('alertUpdated', (t) =>
  t.drizzleField({
    type: Alert,
    description: 'An alert as it is now and whenever it changes; without an id every alert of the tenant that changes.',
    authScopes: { authenticated: true },
    args: { id: t.arg.id({ description: 'Which alert; left out: all.' }) },
    subscribe: (_root, { id }, context) => changes(context, 'alert', id ? [rowId('Alert', id)] : null),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.alerts.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
)
