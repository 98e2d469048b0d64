import { createAlertRoute, deleteAlertRoute, testAlertRoute, updateAlertRoute, whyNotWriteRoute } from '@muster/core/alerts'
import { schema, visibleTo } from '@muster/core/db'
import { Conflict, NotFound } from '@muster/core/errors'
import { builder } from '../builder.ts'
import { AlertMatcher, AlertMatcherInput } from './alert-silences.ts'
import { connectionTypes, PAGED } from './connections.ts'
import { Deleted } from './credential-mutations.ts'
import { AlertDeliveryEvent, AlertDeliveryStatus, AlertRouteKind, SmtpSecurity } from './enums.ts'
import { COMMON } from './errors.ts'
import { globalId, rowId } from './ids.ts'

const AlertDelivery = builder.drizzleNode('alertDeliveries', {
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

const AlertRoute = builder.drizzleNode('alertRoutes', {
  name: 'AlertRoute',
  description: 'A way on which alerts reach people. What is secret of it goes in and never comes out.',
  select: { columns: { id: true, settings: true, sealed: true } },
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
      resolve: ({ sealed }) => Boolean(sealed.secret),
    }),
    matcher: t.expose('matcher', { type: AlertMatcher, description: 'Which alerts are told on it.' }),
    isEnabled: t.exposeBoolean('isEnabled', { description: 'Whether it is in use.' }),
    tellsResolved: t.exposeBoolean('tellsResolved', { description: 'Whether the end of an alert is told too.' }),
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
      resolve: (_route, _args, { ctx }) => whyNotWriteRoute(ctx.actor),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
})

const routeConnection = connectionTypes(AlertRoute, 'AlertRoute', 'routes')

builder.queryField('alertRoutes', (t) =>
  t.drizzleConnection(
    {
      type: AlertRoute,
      description: 'Ways on which alerts reach people, in the order in which they were made.',
      authScopes: { authenticated: true },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(schema.alertRoutes, visibleTo(ctx, schema.alertRoutes)),
      resolve: (query, _root, _args, { ctx }) => ctx.db.query.alertRoutes.findMany(query({ where: { tenantId: ctx.tenantId } })),
    },
    ...routeConnection,
  ),
)

type InputFields = Parameters<Parameters<typeof builder.inputType>[1]['fields']>[0]
const settings = (t: InputFields) => ({
  url: t.string({ description: 'Hooks: the address, sealed at once.' }),
  secret: t.string({
    description:
      'What webhooks are signed with (they must have it), and DingTalk and Feishu where the robot asks for it; the password of a mail server. Sealed at once.',
  }),
  host: t.string({ description: 'E-mail: the mail server.' }),
  port: t.int({ description: 'E-mail: its port; left out: 465, 587 or 25, by `security`.' }),
  security: t.field({ type: SmtpSecurity, description: 'E-mail; left out: STARTTLS.' }),
  username: t.string({ description: 'E-mail: who signs in there; left out: nobody.' }),
  from: t.string({ description: 'E-mail: the sender.' }),
  to: t.stringList({ description: 'E-mail: the receivers, at most 50.' }),
  isEnabled: t.boolean({ description: 'Whether it is in use; left out: true.' }),
  tellsResolved: t.boolean({ description: 'Whether the end of an alert is told too; left out: true.' }),
})

const CreateAlertRouteInput = builder.inputType('CreateAlertRouteInput', {
  description: 'A way for alerts to make.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Its name, unique in the tenant.' }),
    kind: t.field({ type: AlertRouteKind, required: true, description: 'What it is.' }),
    matcher: t.field({
      type: AlertMatcherInput,
      description: 'Which alerts; left out: warnings and critical ones; empty: all.',
    }),
    ...settings(t),
  }),
})
const UpdateAlertRouteInput = builder.inputType('UpdateAlertRouteInput', {
  description: 'What to change of a way for alerts; what is left out stays as it is, null takes away.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Which route.' }),
    name: t.string({ description: 'Its name, unique in the tenant.' }),
    matcher: t.field({ type: AlertMatcherInput, description: 'Which alerts; it takes the place of the former one as a whole.' }),
    ...settings(t),
  }),
})

builder.mutationFields((t) => {
  const one = { id: t.arg.id({ required: true, description: 'Which route.' }) }
  return {
    createAlertRoute: t.field({
      type: AlertRoute,
      description: 'Make a way on which alerts reach people.',
      authScopes: { authenticated: true },
      errors: { types: [...COMMON, Conflict] },
      args: { input: t.arg({ type: CreateAlertRouteInput, required: true, description: 'Which.' }) },
      resolve: (_root, { input }, { ctx }) => createAlertRoute(ctx, input),
    }),
    updateAlertRoute: t.field({
      type: AlertRoute,
      description: 'Change a way for alerts. What waits for it is tried again at once.',
      authScopes: { authenticated: true },
      errors: { types: [...COMMON, Conflict, NotFound] },
      args: { input: t.arg({ type: UpdateAlertRouteInput, required: true, description: 'What to change.' }) },
      resolve: (_root, { input }, { ctx }) =>
        // Null where a field cannot be empty is for the verb to refuse.
        updateAlertRoute(ctx, { ...input, id: rowId('AlertRoute', input.id) } as Parameters<typeof updateAlertRoute>[1]),
    }),
    deleteAlertRoute: t.field({
      type: Deleted,
      description: 'Forget a way for alerts, with what still waits for it.',
      authScopes: { authenticated: true },
      errors: { types: [...COMMON, NotFound] },
      args: one,
      resolve: async (_root, { id }, { ctx }) => {
        const deleted = await deleteAlertRoute(ctx, { id: rowId('AlertRoute', id) })
        return { id: globalId('AlertRoute', deleted.id) }
      },
    }),
    testAlertRoute: t.field({
      type: AlertDelivery,
      description:
        'Send a test on a route, also on one that is switched off. A worker tries it once; the delivery says how it went.',
      authScopes: { authenticated: true },
      errors: { types: [...COMMON, NotFound] },
      args: one,
      resolve: (_root, { id }, { ctx }) => testAlertRoute(ctx, { id: rowId('AlertRoute', id) }),
    }),
  }
})
