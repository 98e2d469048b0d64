import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, gt, sql } from 'drizzle-orm'
import { builder } from '../../../builder.ts'
import { PAGED } from '../../shared/connections.ts'
import { AlertSilence, silenceConnection } from './types.ts'

const { alertSilences } = schema

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
