import { createAlertRoute, deleteAlertRoute, testAlertRoute, updateAlertRoute } from '@muster/core/alerts'
import { Conflict, NotFound } from '@muster/core/errors'
import { globalId, rowId } from '../../shared/ids.ts'
import { type DefaultText, deletedPayload, type InputFields, keepsValue, mutation, statesDefault } from '../../shared/mutation.ts'
import { AlertMatcherInput } from '../silences/types.ts'
import { AlertRouteKind, SmtpSecurity } from './enums.ts'
import { AlertDelivery, AlertRoute } from './types.ts'

const NAME = 'Name, unique in the tenant.'
const payload = { alertRoute: { type: AlertRoute, description: 'The route.' } }
const id = (t: InputFields) => t.id({ required: true, description: 'ID of the route.' })

const optionalFields = (t: InputFields, defaultText: DefaultText) => ({
  url: t.string({ description: 'Webhook address; not for EMAIL. Stored encrypted.' }),
  secret: t.string({
    description:
      'Signing secret of a WEBHOOK (required), DINGTALK or FEISHU route, or the password of a mail server. Stored encrypted.',
  }),
  host: t.string({ description: 'EMAIL: mail server.' }),
  port: t.int({ description: `EMAIL: port.${defaultText('465, 587 or 25, by `security`')}` }),
  security: t.field({ type: SmtpSecurity, description: `EMAIL: transport security.${defaultText('STARTTLS')}` }),
  username: t.string({ description: `EMAIL: user name for authentication.${defaultText('no authentication')}` }),
  from: t.string({ description: 'EMAIL: sender address.' }),
  to: t.stringList({ description: 'EMAIL: recipient addresses, at most 50.' }),
  isEnabled: t.boolean({ description: `Whether messages are sent.${defaultText('true')}` }),
  notifyOnResolve: t.boolean({ description: `Whether resolved alerts are sent too.${defaultText('true')}` }),
})

mutation('createAlertRoute', {
  description: 'Creates an alert route: a destination to which alerts are sent.',
  input: (t) => ({
    name: t.string({ required: true, description: NAME }),
    kind: t.field({ type: AlertRouteKind, required: true, description: 'Kind of destination.' }),
    matcher: t.field({
      type: AlertMatcherInput,
      description: 'The alerts to send. Default: severities WARNING and CRITICAL; an empty matcher matches all.',
    }),
    ...optionalFields(t, statesDefault),
  }),
  idempotent: true,
  payload,
  errors: [Conflict],
  resolve: async (input, { ctx, deps }) => ({ alertRoute: await createAlertRoute(ctx, input, deps.localTargets) }),
})

mutation('updateAlertRoute', {
  description:
    'Changes an alert route. Omitted fields keep their values; null clears a field. Pending messages are retried immediately.',
  input: (t) => ({
    id: id(t),
    name: t.string({ description: NAME }),
    matcher: t.field({ type: AlertMatcherInput, description: 'The alerts to send. Replaces the whole matcher.' }),
    ...optionalFields(t, keepsValue),
  }),
  payload,
  errors: [Conflict, NotFound],
  resolve: async (input, { ctx, deps }) => ({
    alertRoute: await updateAlertRoute(
      ctx,
      // The verb rejects null for fields that cannot be cleared.
      { ...input, id: rowId('AlertRoute', input.id) } as Parameters<typeof updateAlertRoute>[1],
      deps.localTargets,
    ),
  }),
})

mutation('deleteAlertRoute', {
  description: 'Deletes an alert route and its pending messages.',
  input: (t) => ({ id: id(t) }),
  payload: deletedPayload,
  errors: [NotFound],
  resolve: async ({ id }, { ctx }) => ({
    deletedId: globalId('AlertRoute', (await deleteAlertRoute(ctx, { id: rowId('AlertRoute', id) })).id),
  }),
})

mutation('testAlertRoute', {
  description:
    'Sends a test message to a route, even if the route is disabled. A worker tries once and records the result in the status of the delivery.',
  input: (t) => ({ id: id(t) }),
  idempotent: true,
  payload: { alertDelivery: { type: AlertDelivery, description: 'The delivery of the test message.' } },
  errors: [NotFound],
  resolve: async ({ id, idempotencyKey }, { ctx }) => ({
    alertDelivery: await testAlertRoute(ctx, { id: rowId('AlertRoute', id), idempotencyKey }),
  }),
})
