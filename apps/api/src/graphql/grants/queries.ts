import { memberPermissions } from '@muster/core/access'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { Grant, grantConnection } from './types.ts'

const { grants } = schema

builder.queryField('grants', (t) =>
  t.drizzleConnection(
    {
      type: Grant,
      description: 'Grants of all members, oldest first.',
      authScopes: { permission: memberPermissions.read },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(grants, visibleTo(ctx, grants)),
      resolve: (query, _root, _args, { ctx }) => ctx.db.query.grants.findMany(query({ where: { tenantId: ctx.tenantId } })),
    },
    ...grantConnection,
  ),
)
