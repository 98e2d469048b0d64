import type { AgentKeyStatus as Status } from '@muster/core/agents'
import { isOneOf, visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { AgentKeyStatus } from './enums.ts'
import { AgentKey, keyConnection } from './types.ts'

const { agentKeys } = schema

const withStatus = (status: Status[] | null | undefined, keys: typeof agentKeys) =>
  status ? isOneOf(keys.status, status, 'text') : undefined

builder.queryField('agentKeys', (t) =>
  t.drizzleConnection(
    {
      type: AgentKey,
      description: 'Keys with which agents sign, or want to, the newest first.',
      authScopes: { authenticated: true },
      args: { status: t.arg({ type: [AgentKeyStatus], description: 'Only those with one of these statuses.' }) },
      ...PAGED,
      totalCount: (_root, { status }, { ctx }) =>
        ctx.db.$count(agentKeys, and(visibleTo(ctx, agentKeys), withStatus(status, agentKeys))),
      resolve: (query, _root, { status }, { ctx }) =>
        ctx.db.query.agentKeys.findMany(
          query({
            where: { tenantId: ctx.tenantId, RAW: (keys) => withStatus(status, keys) ?? sql`true` },
            orderBy: { id: 'desc' },
          }),
        ),
    },
    ...keyConnection,
  ),
)
