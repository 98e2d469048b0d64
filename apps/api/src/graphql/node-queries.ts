import { schema, visibleTo } from '@muster/core/db'
import { and, eq, sql } from 'drizzle-orm'
import { builder } from '../builder.ts'
import type { ApiContext } from '../context.ts'
import { Accelerator, acceleratorConnection } from './accelerators.ts'
import { PAGED } from './connections.ts'
import { AcceleratorHealth, DeviceType, NodeOrderField, SortDirection } from './enums.ts'
import { groupTree } from './group-tree.ts'
import { rowIdIfGiven } from './ids.ts'
import { asksForGroups, contains, NodeFilter, type NodeFilterInput, nodeConditions } from './node-filter.ts'
import { ComputeNode, nodeConnection } from './nodes.ts'

const { accelerators, computeNodes } = schema

const NodeOrder = builder.inputType('NodeOrder', {
  description: 'In which order to list nodes.',
  fields: (t) => ({
    field: t.field({ type: NodeOrderField, required: true, description: 'By what.' }),
    direction: t.field({ type: SortDirection, required: true, description: 'In which direction.' }),
  }),
})

const AcceleratorFilter = builder.inputType('AcceleratorFilter', {
  description: 'Which accelerators to list; one must fit everything that is given.',
  fields: (t) => ({
    deviceType: t.field({ type: [DeviceType], description: 'Is of one of these kinds.' }),
    vendor: t.stringList({ description: 'Is of one of these vendors.' }),
    model: t.string({ description: 'Its model contains this; case does not count.' }),
    health: t.field({ type: [AcceleratorHealth], description: 'Has one of these healths.' }),
    nodeId: t.id({ description: 'Is in this node.' }),
  }),
})

// Cursors hold what is ordered by. A time in JS has no microseconds, hence never a time itself: ids are in order of
// creation, and the last contact goes as text of one length, nodes never seen first.
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
      description: 'Nodes, without `orderBy` in the order in which they were added.',
      authScopes: { authenticated: true },
      args: {
        filter: t.arg({ type: NodeFilter, description: 'Which nodes.' }),
        orderBy: t.arg({ type: NodeOrder, description: 'In which order.' }),
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
    description: 'The node of that name; null when there is none.',
    authScopes: { authenticated: true },
    args: { name: t.arg.string({ required: true, description: 'Its name.' }) },
    resolve: (query, _root, { name }, { ctx }) =>
      ctx.db.query.computeNodes.findFirst(query({ where: { tenantId: ctx.tenantId, name } })),
  }),
  accelerators: t.drizzleConnection(
    {
      type: Accelerator,
      description: 'Accelerators of all nodes, in the order in which they were first found.',
      authScopes: { authenticated: true },
      args: { filter: t.arg({ type: AcceleratorFilter, description: 'Which accelerators.' }) },
      ...PAGED,
      totalCount: (_root, { filter }, { ctx }) =>
        ctx.db.$count(accelerators, and(visibleTo(ctx, accelerators), acceleratorConditions(filter, accelerators))),
      resolve: (query, _root, { filter }, { ctx }) =>
        ctx.db.query.accelerators.findMany(
          query({ where: { tenantId: ctx.tenantId, RAW: (a) => acceleratorConditions(filter, a) ?? sql`true` } }),
        ),
    },
    ...acceleratorConnection,
  ),
}))

function acceleratorConditions(filter: typeof AcceleratorFilter.$inferInput | null | undefined, a: typeof accelerators) {
  if (!filter) return undefined
  const { deviceType, vendor, model, health } = filter
  const nodeId = rowIdIfGiven('ComputeNode', filter.nodeId)
  return and(
    deviceType ? sql`${a.deviceType} = any(${sql.param(deviceType)}::text[])` : undefined,
    vendor ? sql`${a.vendor} = any(${sql.param(vendor)}::text[])` : undefined,
    model ? contains(a.model, model) : undefined,
    health ? sql`${a.health} = any(${sql.param(health)}::text[])` : undefined,
    nodeId ? eq(a.nodeId, nodeId) : undefined,
  )
}
