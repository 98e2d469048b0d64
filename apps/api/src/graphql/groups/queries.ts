import { tenantPermissions } from '@muster/core/access'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, eq, or, type SQL, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { contains } from '../shared/contains.ts'
import { groupConnection, NodeGroup, NodeGroupKind } from './types.ts'

const { nodeGroups } = schema

const NodeGroupFilter = builder.inputType('NodeGroupFilter', {
  description: 'Conditions for groups.',
  fields: (t) => ({
    kind: t.field({ type: NodeGroupKind, description: 'Groups of this kind.' }),
    exclusiveSet: t.string({ description: 'Groups of this exclusive set.' }),
    text: t.string({
      description: 'The name, the display name, the description or the exclusive set contains this text, ignoring case.',
    }),
  }),
})

function conditions(filter: typeof NodeGroupFilter.$inferInput | null | undefined, g: typeof nodeGroups): SQL | undefined {
  if (!filter) return undefined
  const { kind, exclusiveSet, text } = filter
  return and(
    kind ? eq(g.kind, kind) : undefined,
    exclusiveSet ? eq(g.exclusiveSet, exclusiveSet) : undefined,
    text ? or(...[g.name, g.displayName, g.description, g.exclusiveSet].map((column) => contains(column, text))) : undefined,
  )
}

builder.queryFields((t) => ({
  nodeGroups: t.drizzleConnection(
    {
      type: NodeGroup,
      description: 'Node groups, ordered by name.',
      authScopes: { permission: tenantPermissions.read },
      args: { filter: t.arg({ type: NodeGroupFilter, description: 'Filter. Default: all groups.' }) },
      ...PAGED,
      totalCount: (_root, { filter }, { ctx }) =>
        ctx.db.$count(nodeGroups, and(visibleTo(ctx, nodeGroups), conditions(filter, nodeGroups))),
      resolve: (query, _root, { filter }, { ctx }) =>
        ctx.db.query.nodeGroups.findMany(
          query({
            where: { tenantId: ctx.tenantId, RAW: (g) => conditions(filter, g) ?? sql`true` },
            orderBy: { name: 'asc' },
          }),
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
