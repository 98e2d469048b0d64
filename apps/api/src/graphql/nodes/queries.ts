import { tenantPermissions } from '@muster/core/access'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import type { ApiContext } from '../../context.ts'
import { groupTree } from '../groups/tree.ts'
import { PAGED } from '../shared/connections.ts'
import { SortDirection } from '../shared/enums.ts'
import { NodeOrderField } from './enums.ts'
import { asksForGroups, NodeFilter, type NodeFilterInput, nodeConditions } from './filter.ts'
import { ComputeNode, nodeConnection } from './types.ts'

const { computeNodes } = schema

const NodeOrder = builder.inputType('NodeOrder', {
  description: 'Order of a list of nodes.',
  fields: (t) => ({
    field: t.field({ type: NodeOrderField, required: true, description: 'Sort key.' }),
    direction: t.field({ type: SortDirection, required: true, description: 'Direction.' }),
  }),
})

// Cursors contain the sort key. JavaScript dates have no microseconds, so times are never keys: IDs replace the time of
// creation, and the time of the last response becomes text of fixed length. Nodes without a response sort first.
const lastSeen = (n: typeof computeNodes) =>
  sql<string>`lpad(coalesce(extract(epoch from ${n.lastSeenAt}) * 1000000, 0)::bigint::text, 17, '0')`

type OrderInput = typeof NodeOrder.$inferInput | null | undefined

function nodeOrder(order: OrderInput) {
  const direction = order?.direction === 'DESC' ? ('desc' as const) : ('asc' as const)
  switch (order?.field) {
    case 'NAME':
      return { orderBy: { name: direction } }
    case 'STATUS':
      return { orderBy: { status: direction } }
    case 'LAST_SEEN_AT':
      return { orderBy: { lastSeenKey: direction }, extras: { lastSeenKey: lastSeen } }
    default:
      return { orderBy: { id: direction } }
  }
}

const groupsFor = (filter: NodeFilterInput | null | undefined, context: ApiContext) =>
  asksForGroups(filter) ? groupTree(context) : null

builder.queryFields((t) => ({
  nodes: t.drizzleConnection(
    {
      type: ComputeNode,
      description: 'Nodes. Default order: time of creation.',
      authScopes: { permission: tenantPermissions.read },
      args: {
        filter: t.arg({ type: NodeFilter, description: 'Filter.' }),
        orderBy: t.arg({ type: NodeOrder, description: 'Order.' }),
      },
      ...PAGED,
      totalCount: async (_root, { filter }, context) => {
        const groups = await groupsFor(filter, context)
        return context.ctx.db.$count(
          computeNodes,
          and(visibleTo(context.ctx, computeNodes), nodeConditions(filter, computeNodes, groups)),
        )
      },
      resolve: async (query, _root, { filter, orderBy }, context) => {
        const groups = await groupsFor(filter, context)
        return context.ctx.db.query.computeNodes.findMany(
          query({
            where: { tenantId: context.ctx.tenantId, RAW: (n) => nodeConditions(filter, n, groups) ?? sql`true` },
            ...nodeOrder(orderBy),
          }),
        )
      },
    },
    ...nodeConnection,
  ),
  computeNode: t.drizzleField({
    type: ComputeNode,
    nullable: true,
    description: 'Node with this name; null when there is none.',
    authScopes: { permission: tenantPermissions.read },
    args: { name: t.arg.string({ required: true, description: 'Inventory name.' }) },
    resolve: (query, _root, { name }, { ctx }) =>
      ctx.db.query.computeNodes.findFirst(query({ where: { tenantId: ctx.tenantId, name } })),
  }),
}))
