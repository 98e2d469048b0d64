import { credentialPermissions } from '@muster/core/credentials'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { builder } from '../../../builder.ts'
import { PAGED } from '../../shared/connections.ts'
import { SecretStore, storeConnection } from './types.ts'

builder.queryField('secretStores', (t) =>
  t.drizzleConnection(
    {
      type: SecretStore,
      description: 'Secret stores, in order of creation.',
      authScopes: { permission: credentialPermissions.read },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(schema.secretStores, visibleTo(ctx, schema.secretStores)),
      resolve: (query, _root, _args, { ctx }) => ctx.db.query.secretStores.findMany(query({ where: { tenantId: ctx.tenantId } })),
    },
    ...storeConnection,
  ),
)
