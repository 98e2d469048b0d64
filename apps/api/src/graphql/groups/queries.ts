import { tenantPermissions } from '@muster/core/access'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, eq } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { groupConnection, NodeGroup, NodeGroupKind } from './types.ts'

const { nodeGroups } = schema

const NodeGroupFilter = builder.inputType('NodeGroupFilter', {
  description: 'Conditions for groups.',
  fields: (t) => ({ kind: t.field({ type: NodeGroupKind, description: 'Groups of this kind.' }) }),
})

builder.queryFields((t) => ({
  nodeGroups: t.drizzleConnection(
    {
      type: NodeGroup,
      description: 'Node groups, in order of creation.',
      authScopes: { permission: tenantPermissions.read },
      args: { filter: t.arg({ type: NodeGroupFilter, description: 'Filter. Default: all groups.' }) },
      ...PAGED,
      totalCount: (_root, { filter }, { ctx }) =>
        ctx.db.$count(nodeGroups, and(visibleTo(ctx, nodeGroups), filter?.kind ? eq(nodeGroups.kind, filter.kind) : undefined)),
      resolve: (query, _root, { filter }, { ctx }) =>
        ctx.db.query.nodeGroups.findMany(
          query({ where: { tenantId: ctx.tenantId, ...(filter?.kind ? { kind: filter.kind } : {}) } }),
        ),
    },
    ...groupConnection,
  ),
  nodeGroup: t.drizzleField({
    type: NodeGroup,
    nullable: true,
    description: 'Node group with this name; null when there is none.',
    authScopes: { permission: tenantPermissions.read },
    args: { name: t.arg.string({ required: true, description: 'Group name.' }) },
    resolve: (query, _root, { name }, { ctx }) =>
      ctx.db.query.nodeGroups.findFirst(query({ where: { tenantId: ctx.tenantId, name } })),
  }),
}))
