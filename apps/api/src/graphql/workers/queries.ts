import { tenantPermissions } from '@muster/core/access'
import { schema } from '@muster/core/registry'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { Worker, workerConnection } from './types.ts'

const { workers } = schema

builder.queryField('workers', (t) =>
  t.drizzleConnection(
    {
      type: Worker,
      description: 'Workers of the installation, in the order in which they were started.',
      authScopes: { permission: tenantPermissions.read },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(workers),
      resolve: (query, _root, _args, { ctx }) => ctx.db.query.workers.findMany(query({})),
    },
    ...workerConnection,
  ),
)
