import { tenantPermissions } from '@muster/core/access'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { builder } from '../../../builder.ts'
import { PAGED } from '../../shared/connections.ts'
import { AlertRoute, routeConnection } from './types.ts'

builder.queryField('alertRoutes', (t) =>
  t.drizzleConnection(
    {
      type: AlertRoute,
      description: 'Alert routes, oldest first.',
      authScopes: { permission: tenantPermissions.read },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(schema.alertRoutes, visibleTo(ctx, schema.alertRoutes)),
      resolve: (query, _root, _args, { ctx }) => ctx.db.query.alertRoutes.findMany(query({ where: { tenantId: ctx.tenantId } })),
    },
    ...routeConnection,
  ),
)
