import { schema, visibleTo } from '@muster/core/db'
import { whyNotDelete, whyNotSetMembers } from '@muster/core/groups'
import { countNodesOfGroups, groupsOfNodes, isInGroup, type NodeColumns } from '@muster/core/nodes'
import { and, type SQL } from 'drizzle-orm'
import { builder } from '../builder.ts'
import type { ApiContext } from '../context.ts'
import { connectionTypes, PAGED } from './connections.ts'
import { groupTree } from './group-tree.ts'
import { loader } from './loaders.ts'
import { ComputeNode, nodeConnection } from './nodes.ts'

const { computeNodes, nodeGroups } = schema

const nodeCounts = loader<number>(async (context, ids) =>
  countNodesOfGroups(context.ctx.db, context.ctx, await groupTree(context), [...ids]),
)

const groupsOfNode = loader(async (context, ids) => {
  const groups = await groupsOfNodes(context.ctx.db, context.ctx, [...ids], await groupTree(context))
  return new Map([...groups].map(([id, nearestLast]) => [id, nearestLast.toReversed()]))
})

async function isMember(groupId: string, context: ApiContext): Promise<(n: NodeColumns) => SQL> {
  const tree = await groupTree(context)
  return (n) => isInGroup(tree, [tree.byId.get(groupId)!.name], n)
}

export const NodeGroup = builder.drizzleNode('nodeGroups', {
  name: 'NodeGroup',
  description: 'Nodes that belong together, an Ansible group.',
  select: { columns: { id: true } },
  id: { column: (g) => g.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name in inventories, unique in the tenant.' }),
    displayName: t.exposeString('displayName', { nullable: true, description: 'A name for people.' }),
    description: t.exposeString('description', { description: 'Free text; empty when there is none.' }),
    priority: t.exposeInt('priority', {
      description: "Among a node's groups that are equally deep in their trees, the one with the lower number wins.",
    }),
    isSystem: t.exposeBoolean('isSystem', { description: 'Whether Muster itself made it.' }),
    parent: t.relation('parent', {
      nullable: true,
      description: "The group above it, which has all of its nodes; this group's variables win over that one's.",
    }),
    children: t.relation('children', {
      description: 'The groups right below it, whose nodes are in it too.',
      query: { orderBy: { name: 'asc' } },
    }),
    memberQuery: t.exposeString('memberQuery', {
      nullable: true,
      description: 'The nodes that fit this query are in it, at any time; null: those that were put into it by hand.',
    }),
    exclusiveSet: t.string({
      nullable: true,
      description: 'Of all groups of one exclusive set a node is in one at most; null: it is of none.',
      select: { columns: { exclusiveSet: true } },
      resolve: (g) => g.exclusiveSet || null,
    }),
    nodeCount: t.int({
      description: 'How many nodes are in it.',
      resolve: async (g, _args, context) => (await nodeCounts(context, g.id))!,
    }),
    nodes: t.drizzleConnection(
      {
        type: ComputeNode,
        description: 'Nodes in it, itself or through a group below, in the order in which they were added.',
        ...PAGED,
        totalCount: async (g, _args, context) =>
          context.ctx.db.$count(
            computeNodes,
            and(visibleTo(context.ctx, computeNodes), (await isMember(g.id, context))(computeNodes)),
          ),
        resolve: async (query, g, _args, context) =>
          context.ctx.db.query.computeNodes.findMany(
            query({ where: { tenantId: context.ctx.tenantId, RAW: await isMember(g.id, context) } }),
          ),
      },
      ...nodeConnection,
    ),
    membersBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not put nodes into it or take nodes out; null: allowed.',
      select: { columns: { name: true, memberQuery: true } },
      resolve: (g, _args, { ctx }) => whyNotSetMembers(ctx.actor, g),
    }),
    deleteBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not delete it; null: allowed.',
      select: { columns: { name: true, isSystem: true }, with: { children: { columns: { name: true } } } },
      resolve: (g, _args, { ctx }) =>
        whyNotDelete(
          ctx.actor,
          g,
          g.children.map((child) => child.name),
        ),
    }),
  }),
})

builder.drizzleObjectField(ComputeNode, 'groups', (t) =>
  t.field({
    type: [NodeGroup],
    description: 'Groups it is in, itself or through a group below; each wins over those after it.',
    resolve: async (n, _args, context) => (await groupsOfNode(context, n.id)) ?? [],
  }),
)

export const groupConnection = connectionTypes(NodeGroup, 'NodeGroup', 'node groups')

builder.queryFields((t) => ({
  nodeGroups: t.drizzleConnection(
    {
      type: NodeGroup,
      description: 'Node groups, in the order in which they were made.',
      authScopes: { authenticated: true },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(nodeGroups, visibleTo(ctx, nodeGroups)),
      resolve: (query, _root, _args, { ctx }) => ctx.db.query.nodeGroups.findMany(query({ where: { tenantId: ctx.tenantId } })),
    },
    ...groupConnection,
  ),
  nodeGroup: t.drizzleField({
    type: NodeGroup,
    nullable: true,
    description: 'The node group of that name; null when there is none.',
    authScopes: { authenticated: true },
    args: { name: t.arg.string({ required: true, description: 'Its name.' }) },
    resolve: (query, _root, { name }, { ctx }) =>
      ctx.db.query.nodeGroups.findFirst(query({ where: { tenantId: ctx.tenantId, name } })),
  }),
}))
