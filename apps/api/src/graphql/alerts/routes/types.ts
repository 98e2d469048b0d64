import { routeWriteBlockedReason } from '@muster/core/alerts'
import { builder } from '../../../builder.ts'
import { connectionTypes, PAGED } from '../../shared/connections.ts'
import { AlertMatcher } from '../silences/types.ts'
import { AlertDeliveryEvent, AlertDeliveryStatus, AlertRouteKind, SmtpSecurity } from './enums.ts'

export const AlertDelivery = builder.drizzleNode('alertDeliveries', {
  name: 'AlertDelivery',
  description: 'One message on one route. Its id is the same in each attempt, and stands in what webhooks and mails get.',
  select: { columns: { id: true } },
  id: { column: (delivery) => delivery.id },
  fields: (t) => ({
    event: t.expose('event', { type: AlertDeliveryEvent, description: 'What it tells.' }),
    alertCount: t.int({
      description: 'Of how many alerts.',
      select: { columns: { alerts: true } },
      resolve: ({ alerts }) => alerts.length,
    }),
    alerts: t.expose('alerts', {
      type: 'JSON',
      description: 'Them as they were when it was made, a list of objects with id, kind, severity, node and so on.',
    }),
    status: t.expose('status', { type: AlertDeliveryStatus, description: 'How it went.' }),
    attempts: t.exposeInt('attempts', { description: 'How often it was tried.' }),
    attemptedAt: t.expose('attemptedAt', { type: 'DateTime', nullable: true, description: 'When it was last tried.' }),
    lastError: t.exposeString('lastError', { nullable: true, description: 'Why the last attempt failed.' }),
    deliveredAt: t.expose('deliveredAt', { type: 'DateTime', nullable: true, description: 'When it was taken.' }),
    failedAt: t.expose('failedAt', { type: 'DateTime', nullable: true, description: 'When it was given up.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
  }),
})

const deliveryConnection = connectionTypes(AlertDelivery, 'AlertDelivery', 'messages')

export const AlertRoute = builder.drizzleNode('alertRoutes', {
  name: 'AlertRoute',
  description: 'A way on which alerts reach people. What is secret of it goes in and never comes out.',
  select: { columns: { id: true, settings: true, encrypted: true } },
  id: { column: (route) => route.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name, unique in the tenant.' }),
    kind: t.expose('kind', { type: AlertRouteKind, description: 'What it is.' }),
    origin: t.string({
      nullable: true,
      description: 'Hooks: scheme and host of its address; the rest is sealed.',
      resolve: ({ settings }) => settings.origin ?? null,
    }),
    host: t.string({ nullable: true, description: 'E-mail: the mail server.', resolve: ({ settings }) => settings.host ?? null }),
    port: t.int({ nullable: true, description: 'E-mail: its port.', resolve: ({ settings }) => settings.port ?? null }),
    security: t.field({
      type: SmtpSecurity,
      nullable: true,
      description: 'E-mail: how the connection is kept from others.',
      resolve: ({ settings }) => settings.security ?? null,
    }),
    username: t.string({
      nullable: true,
      description: 'E-mail: who signs in there.',
      resolve: ({ settings }) => settings.username ?? null,
    }),
    from: t.string({ nullable: true, description: 'E-mail: the sender.', resolve: ({ settings }) => settings.from ?? null }),
    to: t.stringList({ description: 'E-mail: the receivers.', resolve: ({ settings }) => settings.to ?? [] }),
    hasSecret: t.boolean({
      description: 'Whether it has a secret or password.',
      resolve: ({ encrypted }) => Boolean(encrypted.secret),
    }),
    matcher: t.expose('matcher', { type: AlertMatcher, description: 'Which alerts are told on it.' }),
    isEnabled: t.exposeBoolean('isEnabled', { description: 'Whether it is in use.' }),
    notifyOnResolve: t.exposeBoolean('notifyOnResolve', { description: 'Whether the end of an alert is told too.' }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when nothing goes through; null: all is well.',
    }),
    lastError: t.exposeString('lastError', { nullable: true, description: 'Why nothing goes through.' }),
    retryAt: t.expose('retryAt', { type: 'DateTime', nullable: true, description: 'When it is tried again.' }),
    deliveries: t.relatedConnection(
      'deliveries',
      { description: 'What was sent on it, the newest first.', totalCount: true, query: { orderBy: { id: 'desc' } }, ...PAGED },
      ...deliveryConnection,
    ),
    writeBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not change, test or delete it; null: allowed.',
      resolve: (_route, _args, { ctx }) => routeWriteBlockedReason(ctx.actor),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
})

export const routeConnection = connectionTypes(AlertRoute, 'AlertRoute', 'routes')
