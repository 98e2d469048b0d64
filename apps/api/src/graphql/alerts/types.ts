import { acknowledgeBlockedReason, alertMessage, alertResolveBlockedReason } from '@muster/core/alerts'
import { builder } from '../../builder.ts'
import { nullableActorField } from '../access/people.ts'
import { ComputeNode } from '../nodes/types.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { AlertKind, AlertSeverity } from './enums.ts'
import { AlertEvidence, evidenceOf } from './evidence.ts'

export const Alert = builder.drizzleNode('alerts', {
  name: 'Alert',
  description: 'A problem of a node, a cluster or all nodes. It resolves automatically when its cause ends.',
  select: { columns: { id: true } },
  id: { column: (alert) => alert.id },
  fields: (t) => ({
    kind: t.expose('kind', { type: AlertKind, description: 'Kind of the problem.' }),
    severity: t.expose('severity', { type: AlertSeverity, description: 'Severity.' }),
    node: t.relation('node', { nullable: true, description: 'Node with the problem; null for a cluster or all nodes.' }),
    cluster: t.exposeString('cluster', {
      nullable: true,
      description: 'Cluster of the node, or the cluster with the problem; null for all nodes.',
    }),
    message: t.string({
      description: 'The problem in one sentence without a full stop, for example `gpu001 is offline`.',
      select: { columns: { kind: true, cluster: true }, with: { node: { columns: { name: true } } } },
      resolve: ({ kind, cluster, node }) => alertMessage({ kind, cluster, node: node?.name ?? null }),
    }),
    evidence: t.field({
      type: AlertEvidence,
      description: 'The facts that the alert is based on.',
      select: { columns: { kind: true, evidence: true } },
      resolve: evidenceOf,
    }),
    openedAt: t.expose('openedAt', { type: 'DateTime', description: 'When the problem was first detected.' }),
    lastSeenAt: t.expose('lastAt', { type: 'DateTime', description: 'When the problem was last detected.' }),
    count: t.exposeInt('count', { description: 'Number of times that the problem was detected since the alert opened.' }),
    resolvedAt: t.expose('resolvedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the alert resolved; null while it is open.',
    }),
    acknowledgedAt: t.expose('acknowledgedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the alert was acknowledged; null when it was not.',
    }),
    acknowledgedBy: t.field(nullableActorField('acknowledged', 'Actor that acknowledged the alert.')),
    acknowledgment: t.exposeString('acknowledgment', { nullable: true, description: 'Note of the acknowledgment.' }),
    acknowledgeBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot acknowledge or silence the alert; null when allowed.',
      resolve: (_alert, _args, { ctx }) => acknowledgeBlockedReason(ctx.actor),
    }),
    resolveBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot resolve the alert manually; null when allowed.',
      select: { columns: { kind: true, resolvedAt: true } },
      resolve: (alert, _args, { ctx }) => alertResolveBlockedReason(ctx.actor, alert),
    }),
  }),
})

export const alertConnection = connectionTypes(Alert, 'Alert', 'alerts')

builder.drizzleObjectFields(ComputeNode, (t) => ({
  alerts: t.relatedConnection(
    'alerts',
    { description: 'Alerts of the node, newest first.', totalCount: true, query: { orderBy: { id: 'desc' } }, ...PAGED },
    ...alertConnection,
  ),
}))
