import { tenantPermissions } from '@muster/core/access'
import { isOneOf, visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, eq, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { rowIdIfGiven } from '../shared/ids.ts'
import { AgentKeyStatus } from './enums.ts'
import { AgentKey, keyConnection } from './types.ts'

const { agentKeys } = schema

const AgentKeyFilter = builder.inputType('AgentKeyFilter', {
  description: 'Conditions on agent keys; a key must meet all of them.',
  fields: (t) => ({
    status: t.field({ type: [AgentKeyStatus], description: 'One of these statuses; at most 500.' }),
    nodeId: t.id({ description: 'Bound to this node.' }),
  }),
})

function keyConditions(filter: typeof AgentKeyFilter.$inferInput | null | undefined, keys: typeof agentKeys) {
  const nodeId = rowIdIfGiven('ComputeNode', filter?.nodeId)
  return and(
    filter?.status ? isOneOf(keys.status, filter.status, 'text') : undefined,
    nodeId ? eq(keys.nodeId, nodeId) : undefined,
  )
}

builder.queryField('agentKeys', (t) =>
  t.drizzleConnection(
    {
      type: AgentKey,
      description: 'Agent keys, newest first.',
      authScopes: { permission: tenantPermissions.read },
      args: { filter: t.arg({ type: AgentKeyFilter, description: 'Conditions. Default: all keys.' }) },
      ...PAGED,
      totalCount: (_root, { filter }, { ctx }) =>
        ctx.db.$count(agentKeys, and(visibleTo(ctx, agentKeys), keyConditions(filter, agentKeys))),
      resolve: (query, _root, { filter }, { ctx }) =>
        ctx.db.query.agentKeys.findMany(
          query({
            where: { tenantId: ctx.tenantId, RAW: (keys) => keyConditions(filter, keys) ?? sql`true` },
            orderBy: { id: 'desc' },
          }),
        ),
    },
    ...keyConnection,
  ),
)
