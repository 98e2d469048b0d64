import { tenantPermissions } from '@muster/core/access'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { groupConnection, NodeGroup } from './types.ts'

const { nodeGroups } = schema

builder.queryFields((t) => ({
  nodeGroups: t.drizzleConnection(
    {
      type: NodeGroup,
      description: 'Node groups, in order of creation.',
      authScopes: { permission: tenantPermissions.read },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(nodeGroups, visibleTo(ctx, nodeGroups)),
      resolve: (query, _root, _args, { ctx }) => ctx.db.query.nodeGroups.findMany(query({ where: { tenantId: ctx.tenantId } })),
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
