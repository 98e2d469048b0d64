import {
  createAlertSilence,
  endAlertSilence,
  type AlertMatcher as Matcher,
  silencesOfAlerts,
  whyNotEndSilence,
} from '@muster/core/alerts'
import { schema, visibleTo } from '@muster/core/db'
import { Conflict, NotFound } from '@muster/core/errors'
import { and, gt, sql } from 'drizzle-orm'
import { builder } from '../builder.ts'
import { Alert } from './alerts.ts'
import { connectionTypes, PAGED } from './connections.ts'
import { AlertKind, AlertSeverity } from './enums.ts'
import { COMMON } from './errors.ts'
import { rowId } from './ids.ts'
import { loader } from './loaders.ts'

const { alertSilences } = schema

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

const AlertSilence = builder.drizzleNode('alertSilences', {
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
      resolve: (silence, _args, { ctx }) => whyNotEndSilence(ctx.actor, silence),
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

const silenceConnection = connectionTypes(AlertSilence, 'AlertSilence', 'silences')
const isLeft = (isOver: boolean | null | undefined) => (isOver ? sql`true` : gt(alertSilences.endsAt, sql`now()`))

builder.queryField('alertSilences', (t) =>
  t.drizzleConnection(
    {
      type: AlertSilence,
      description: 'Silences that go on or are to come, the newest first.',
      authScopes: { authenticated: true },
      args: { isOver: t.arg.boolean({ description: 'With those that are over.' }) },
      ...PAGED,
      totalCount: (_root, { isOver }, { ctx }) =>
        ctx.db.$count(alertSilences, and(visibleTo(ctx, alertSilences), isLeft(isOver))),
      resolve: (query, _root, { isOver }, { ctx }) =>
        ctx.db.query.alertSilences.findMany(
          query({
            where: { tenantId: ctx.tenantId, RAW: (s) => (isOver ? sql`true` : gt(s.endsAt, sql`now()`)) },
            orderBy: { id: 'desc' },
          }),
        ),
    },
    ...silenceConnection,
  ),
)

const CreateAlertSilenceInput = builder.inputType('CreateAlertSilenceInput', {
  description: 'A silence to make.',
  fields: (t) => ({
    matcher: t.field({ type: AlertMatcherInput, required: true, description: 'Which alerts; empty: all.' }),
    reason: t.string({ required: true, description: 'Why, for those who wonder.' }),
    startsAt: t.field({ type: 'DateTime', description: 'When it begins; left out: now.' }),
    endsAt: t.field({ type: 'DateTime', required: true, description: 'When it ends, at most 366 days after its start.' }),
  }),
})

builder.mutationFields((t) => ({
  createAlertSilence: t.field({
    type: AlertSilence,
    description: 'Tell nobody of some alerts for a while.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON] },
    args: { input: t.arg({ type: CreateAlertSilenceInput, required: true, description: 'Which, how long and why.' }) },
    resolve: (_root, { input }, { ctx }) => createAlertSilence(ctx, input),
  }),
  endAlertSilence: t.field({
    type: AlertSilence,
    description: 'End a silence before its time. Alerts that it held back are told now, if they are open still.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { id: t.arg.id({ required: true, description: 'Which silence.' }) },
    resolve: (_root, { id }, { ctx }) => endAlertSilence(ctx, { id: rowId('AlertSilence', id) }),
  }),
}))
