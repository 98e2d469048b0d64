import { auditPermissions } from '@muster/core/audit'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { builder } from '../../../builder.ts'
import { PAGED } from '../../shared/connections.ts'
import { AuditSink, sinkConnection } from './types.ts'

builder.queryField('auditSinks', (t) =>
  t.drizzleConnection(
    {
      type: AuditSink,
      description: 'Audit sinks, oldest first.',
      authScopes: { permission: auditPermissions.read },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(schema.auditSinks, visibleTo(ctx, schema.auditSinks)),
      resolve: (query, _root, _args, { ctx }) => ctx.db.query.auditSinks.findMany(query({ where: { tenantId: ctx.tenantId } })),
    },
    ...sinkConnection,
  ),
)
