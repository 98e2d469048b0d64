import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { Member, memberConnection } from './people.ts'
import { ApiToken, tokenConnection, Viewer } from './types.ts'

const { apiTokens, members } = schema

builder.queryFields((t) => ({
  viewer: t.field({
    type: Viewer,
    nullable: true,
    description: 'The caller; null when not signed in.',
    authScopes: { public: true },
    resolve: (_root, _args, { caller }) => caller,
  }),
  members: t.drizzleConnection(
    {
      type: Member,
      description: 'Members of the tenant, oldest first.',
      authScopes: { authenticated: true },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(members, visibleTo(ctx, members)),
      resolve: (query, _root, _args, { ctx }) => ctx.db.query.members.findMany(query({ where: { tenantId: ctx.tenantId } })),
    },
    ...memberConnection,
  ),
  apiTokens: t.drizzleConnection(
    {
      type: ApiToken,
      description: 'API tokens, oldest first, including revoked ones.',
      authScopes: { role: 'operator' },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(apiTokens, visibleTo(ctx, apiTokens)),
      resolve: (query, _root, _args, { ctx }) => ctx.db.query.apiTokens.findMany(query({ where: { tenantId: ctx.tenantId } })),
    },
    ...tokenConnection,
  ),
}))
