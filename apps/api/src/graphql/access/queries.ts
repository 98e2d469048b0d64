import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { ApiToken, tokenConnection, Viewer } from './types.ts'

const { apiTokens } = schema

builder.queryFields((t) => ({
  viewer: t.field({
    type: Viewer,
    nullable: true,
    description: 'Who the caller is; null when nobody is signed in.',
    authScopes: { public: true },
    resolve: (_root, _args, { caller }) => caller,
  }),
  apiTokens: t.drizzleConnection(
    {
      type: ApiToken,
      description: 'API tokens, revoked ones included, in the order in which they were made.',
      authScopes: { role: 'operator' },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(apiTokens, visibleTo(ctx, apiTokens)),
      resolve: (query, _root, _args, { ctx }) => ctx.db.query.apiTokens.findMany(query({ where: { tenantId: ctx.tenantId } })),
    },
    ...tokenConnection,
  ),
}))
