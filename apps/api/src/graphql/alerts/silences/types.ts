import { type AlertMatcher as Matcher, silenceEndBlockedReason, silencesOfAlerts } from '@muster/core/alerts'
import { builder } from '../../../builder.ts'
import { connectionTypes } from '../../shared/connections.ts'
import { loader } from '../../shared/loaders.ts'
import { AlertKind, AlertSeverity } from '../enums.ts'
import { Alert } from '../types.ts'

export const AlertMatcher = builder.objectRef<Matcher>('AlertMatcher').implement({
  description: 'Which alerts are meant: those that fit every part that says something.',
  fields: (t) => ({
    kinds: t.field({ type: [AlertKind], description: 'One of these kinds; empty: any.', resolve: ({ kinds }) => kinds ?? [] }),
    severities: t.field({
      type: [AlertSeverity],
      description: 'One of these severities; empty: any.',
      resolve: ({ severities }) => severities ?? [],
    }),
    query: t.string({
      nullable: true,
      description: 'The node fits this query: `tag = prod and group = front`; null: any.',
      resolve: ({ query }) => query ?? null,
    }),
    clusters: t.stringList({ description: 'One of these clusters; empty: any.', resolve: ({ clusters }) => clusters ?? [] }),
  }),
})

export const AlertMatcherInput = builder.inputType('AlertMatcherInput', {
  description: 'Which alerts are meant: those that fit every part that is given.',
  fields: (t) => ({
    kinds: t.field({ type: [AlertKind], description: 'One of these kinds.' }),
    severities: t.field({ type: [AlertSeverity], description: 'One of these severities.' }),
    query: t.string({ description: 'The node fits this query: `tag = prod and group = front`.' }),
    clusters: t.stringList({ description: 'One of these clusters.' }),
  }),
})

export const AlertSilence = builder.drizzleNode('alertSilences', {
  name: 'AlertSilence',
  description: 'A time during which nobody is told of the alerts that fit. Those that are open when it ends are told then.',
  select: { columns: { id: true, endsAt: true } },
  id: { column: (silence) => silence.id },
  fields: (t) => ({
    matcher: t.expose('matcher', { type: AlertMatcher, description: 'Which alerts.' }),
    reason: t.exposeString('reason', { description: 'Why.' }),
    startsAt: t.expose('startsAt', { type: 'DateTime', description: 'When it begins.' }),
    endsAt: t.expose('endsAt', { type: 'DateTime', description: 'When it ends.' }),
    createdByName: t.exposeString('createdByName', { description: 'Who made it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    endBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not end it; null: allowed.',
      resolve: (silence, _args, { ctx }) => silenceEndBlockedReason(ctx.actor, silence),
    }),
  }),
})

const silenceOf = loader(({ ctx }, ids) => silencesOfAlerts(ctx.db, ctx, [...ids]))

builder.drizzleObjectFields(Alert, (t) => ({
  silence: t.field({
    type: AlertSilence,
    nullable: true,
    description: 'The silence under which it is now, the one that ends last; null: none.',
    resolve: async ({ id }, _args, context) => (await silenceOf(context, id)) ?? null,
  }),
}))

export const silenceConnection = connectionTypes(AlertSilence, 'AlertSilence', 'silences')
