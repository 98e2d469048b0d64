import { type AlertMatcher as Matcher, silenceEndBlockedReason, silencesOfAlerts } from '@muster/core/alerts'
import { builder } from '../../../builder.ts'
import { actorField } from '../../access/people.ts'
import { connectionTypes } from '../../shared/connections.ts'
import { loader } from '../../shared/loaders.ts'
import { AlertKind, AlertSeverity } from '../enums.ts'
import { Alert } from '../types.ts'

export const AlertMatcher = builder.objectRef<Matcher>('AlertMatcher').implement({
  description: 'Selects alerts; an alert must meet all conditions.',
  fields: (t) => ({
    kinds: t.field({
      type: [AlertKind],
      description: 'One of these kinds; empty: any. At most 100.',
      resolve: ({ kinds }) => kinds ?? [],
    }),
    severities: t.field({
      type: [AlertSeverity],
      description: 'One of these severities; empty: any. At most 100.',
      resolve: ({ severities }) => severities ?? [],
    }),
    query: t.string({
      nullable: true,
      description: 'The node matches this node query, for example `tag = prod and group = front`; null: any node.',
      resolve: ({ query }) => query ?? null,
    }),
    clusters: t.stringList({
      description: 'One of these clusters; empty: any. At most 100.',
      resolve: ({ clusters }) => clusters ?? [],
    }),
  }),
})

export const AlertMatcherInput = builder.inputType('AlertMatcherInput', {
  description: 'Selects alerts; an alert must meet all given conditions.',
  fields: (t) => ({
    kinds: t.field({ type: [AlertKind], description: 'One of these kinds, at most 100.' }),
    severities: t.field({ type: [AlertSeverity], description: 'One of these severities, at most 100.' }),
    query: t.string({ description: 'The node matches this node query, for example `tag = prod and group = front`.' }),
    clusters: t.stringList({ description: 'One of these clusters, at most 100.' }),
  }),
})

export const AlertSilence = builder.drizzleNode('alertSilences', {
  name: 'AlertSilence',
  description:
    'A period in which no notifications are sent for matching alerts. Notifications for alerts that are still open are sent at its end.',
  select: { columns: { id: true, endsAt: true } },
  id: { column: (silence) => silence.id },
  fields: (t) => ({
    matcher: t.expose('matcher', { type: AlertMatcher, description: 'The silenced alerts.' }),
    reason: t.exposeString('reason', { description: 'Reason.' }),
    startsAt: t.expose('startsAt', { type: 'DateTime', description: 'Start.' }),
    endsAt: t.expose('endsAt', { type: 'DateTime', description: 'End.' }),
    createdBy: t.field(actorField('created', 'Actor that created the silence.')),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the silence was created.' }),
    endBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot end the silence; null when allowed.',
      resolve: (silence, _args, { ctx }) => silenceEndBlockedReason(ctx.actor, silence),
    }),
  }),
})

const silenceOf = loader(({ ctx }, ids) => silencesOfAlerts(ctx.db, ctx, [...ids]))

builder.drizzleObjectFields(Alert, (t) => ({
  silence: t.field({
    type: AlertSilence,
    nullable: true,
    description: 'Active silence of the alert; of several, the one that ends last. Null when the alert is not silenced.',
    resolve: async ({ id }, _args, context) => (await silenceOf(context, id)) ?? null,
  }),
}))

export const silenceConnection = connectionTypes(AlertSilence, 'AlertSilence', 'silences')
