import { acknowledgeBlockedReason, alertResolveBlockedReason, KINDS } from '@muster/core/alerts'
import { builder } from '../../builder.ts'
import { ComputeNode } from '../nodes/types.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { AlertKind, AlertSeverity } from './enums.ts'

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
    acknowledgment: t.exposeString('acknowledgment', { nullable: true, description: 'What they said.' }),
    acknowledgeBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not acknowledge or silence it; null: allowed.',
      resolve: (_alert, _args, { ctx }) => acknowledgeBlockedReason(ctx.actor),
    }),
    endBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not end it by hand; null: allowed.',
      select: { columns: { kind: true, resolvedAt: true } },
      resolve: (alert, _args, { ctx }) => alertResolveBlockedReason(ctx.actor, alert),
    }),
  }),
})

export const alertConnection = connectionTypes(Alert, 'Alert', 'alerts')

builder.drizzleObjectFields(ComputeNode, (t) => ({
  alerts: t.relatedConnection(
    'alerts',
    { description: 'Alerts about it, the newest first.', totalCount: true, query: { orderBy: { id: 'desc' } }, ...PAGED },
    ...alertConnection,
  ),
}))
