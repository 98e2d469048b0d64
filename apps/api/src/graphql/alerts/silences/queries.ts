import { tenantPermissions } from '@muster/core/access'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, gt, sql } from 'drizzle-orm'
import { builder } from '../../../builder.ts'
import { PAGED } from '../../shared/connections.ts'
import { AlertSilence, silenceConnection } from './types.ts'

const { alertSilences } = schema

const notEnded = (silences: typeof alertSilences, includeEnded: boolean | null | undefined) =>
  includeEnded ? sql`true` : gt(silences.endsAt, sql`now()`)

builder.queryField('alertSilences', (t) =>
  t.drizzleConnection(
    {
      type: AlertSilence,
      description: 'Active and future silences, newest first.',
      authScopes: { permission: tenantPermissions.read },
      args: { includeEnded: t.arg.boolean({ description: 'Include ended silences. Default: false.' }) },
      ...PAGED,
      totalCount: (_root, { includeEnded }, { ctx }) =>
        ctx.db.$count(alertSilences, and(visibleTo(ctx, alertSilences), notEnded(alertSilences, includeEnded))),
      resolve: (query, _root, { includeEnded }, { ctx }) =>
        ctx.db.query.alertSilences.findMany(
          query({ where: { tenantId: ctx.tenantId, RAW: (s) => notEnded(s, includeEnded) }, orderBy: { id: 'desc' } }),
        ),
    },
    ...silenceConnection,
  ),
)
