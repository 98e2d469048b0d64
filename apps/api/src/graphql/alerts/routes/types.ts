import { type AlertSnapshot, routeWriteBlockedReason } from '@muster/core/alerts'
import { builder } from '../../../builder.ts'
import { connectionTypes, PAGED } from '../../shared/connections.ts'
import { globalId } from '../../shared/ids.ts'
import { AlertKind, AlertSeverity } from '../enums.ts'
import { AlertEvidence, evidenceOf } from '../evidence.ts'
import { AlertMatcher } from '../silences/types.ts'
import { AlertDeliveryEvent, AlertDeliveryStatus, AlertRouteKind, SmtpSecurity } from './enums.ts'

const DeliveredAlert = builder.objectRef<AlertSnapshot>('DeliveredAlert').implement({
  description: 'An alert as it was when its message was created.',
  fields: (t) => ({
    alertId: t.id({ description: 'ID of the alert.', resolve: ({ id }) => globalId('Alert', id) }),
    kind: t.expose('kind', { type: AlertKind, description: 'Kind of the problem.' }),
    severity: t.expose('severity', { type: AlertSeverity, description: 'Severity.' }),
    nodeName: t.exposeString('node', { nullable: true, description: 'Name of the node; null for a cluster or all nodes.' }),
    cluster: t.exposeString('cluster', { nullable: true, description: 'Cluster; null for all nodes.' }),
    openedAt: t.field({
      type: 'DateTime',
      description: 'When the problem was first detected.',
      resolve: ({ openedAt }) => new Date(openedAt),
    }),
    resolvedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the alert resolved; null while it was open.',
      resolve: ({ resolvedAt }) => (resolvedAt ? new Date(resolvedAt) : null),
    }),
    count: t.exposeInt('count', { description: 'Number of times that the problem was detected.' }),
    evidence: t.field({ type: AlertEvidence, description: 'The facts that the alert is based on.', resolve: evidenceOf }),
  }),
})

export const AlertDelivery = builder.drizzleNode('alertDeliveries', {
  name: 'AlertDelivery',
  description:
    'A message on an alert route. Webhooks and mails contain its ID, which is the same for all attempts, so that receivers can discard duplicates.',
  select: { columns: { id: true } },
  id: { column: (delivery) => delivery.id },
  fields: (t) => ({
    event: t.expose('event', { type: AlertDeliveryEvent, description: 'Event that the message reports.' }),
    alertCount: t.int({
      description: 'Number of alerts in the message.',
      select: { columns: { alerts: true } },
      resolve: ({ alerts }) => alerts.length,
    }),
    alerts: t.expose('alerts', {
      type: [DeliveredAlert],
      description: 'The alerts as they were when the message was created. At most 500; empty for a test.',
    }),
    status: t.expose('status', { type: AlertDeliveryStatus, description: 'Status.' }),
    attempts: t.exposeInt('attempts', { description: 'Number of attempts.' }),
    attemptedAt: t.expose('attemptedAt', { type: 'DateTime', nullable: true, description: 'When the last attempt started.' }),
    lastError: t.exposeString('lastError', { nullable: true, description: 'Error of the last attempt.' }),
    deliveredAt: t.expose('deliveredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the destination accepted the message.',
    }),
    failedAt: t.expose('failedAt', { type: 'DateTime', nullable: true, description: 'When the message was given up.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the message was created.' }),
  }),
})

const deliveryConnection = connectionTypes(AlertDelivery, 'AlertDelivery', 'messages')

export const AlertRoute = builder.drizzleNode('alertRoutes', {
  name: 'AlertRoute',
  description: 'A destination to which alerts are sent. Its secrets are stored encrypted and cannot be read.',
  select: { columns: { id: true, settings: true, encrypted: true } },
  id: { column: (route) => route.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, unique in the tenant.' }),
    kind: t.expose('kind', { type: AlertRouteKind, description: 'Kind of destination.' }),
    origin: t.string({
      nullable: true,
      description: 'Scheme and host of the webhook address; the rest is secret. Null for EMAIL.',
      resolve: ({ settings }) => settings.origin ?? null,
    }),
    host: t.string({ nullable: true, description: 'EMAIL: mail server.', resolve: ({ settings }) => settings.host ?? null }),
    port: t.int({
      nullable: true,
      description: 'EMAIL: port of the mail server.',
      resolve: ({ settings }) => settings.port ?? null,
    }),
    security: t.field({
      type: SmtpSecurity,
      nullable: true,
      description: 'EMAIL: transport security.',
      resolve: ({ settings }) => settings.security ?? null,
    }),
    username: t.string({
      nullable: true,
      description: 'EMAIL: user name for authentication; null: no authentication.',
      resolve: ({ settings }) => settings.username ?? null,
    }),
    from: t.string({ nullable: true, description: 'EMAIL: sender address.', resolve: ({ settings }) => settings.from ?? null }),
    to: t.stringList({
      description: 'EMAIL: recipient addresses. At most 50; empty for other kinds.',
      resolve: ({ settings }) => settings.to ?? [],
    }),
    hasSecret: t.boolean({
      description: 'Whether the route has a signing secret or password.',
      resolve: ({ encrypted }) => Boolean(encrypted.secret),
    }),
    matcher: t.expose('matcher', { type: AlertMatcher, description: 'The alerts that are sent.' }),
    isEnabled: t.exposeBoolean('isEnabled', { description: 'Whether messages are sent.' }),
    notifyOnResolve: t.exposeBoolean('notifyOnResolve', { description: 'Whether resolved alerts are sent too.' }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when deliveries fail; null when the last one succeeded.',
    }),
    lastError: t.exposeString('lastError', { nullable: true, description: 'Error of the last delivery.' }),
    retryAt: t.expose('retryAt', { type: 'DateTime', nullable: true, description: 'When the next attempt is made.' }),
    deliveries: t.relatedConnection(
      'deliveries',
      { description: 'Messages, newest first.', totalCount: true, query: { orderBy: { id: 'desc' } }, ...PAGED },
      ...deliveryConnection,
    ),
    updateBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot change, test or delete the route; null when allowed.',
      resolve: (_route, _args, { ctx }) => routeWriteBlockedReason(ctx.actor),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the route was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the route was last changed.' }),
  }),
})

export const routeConnection = connectionTypes(AlertRoute, 'AlertRoute', 'routes')
