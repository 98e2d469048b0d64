import { visibleTo } from '@muster/core/db'
import { countNodesOfGroups, deleteBlockedReason, directGroupIds, isInGroup, setMembersBlockedReason } from '@muster/core/groups'
import { schema } from '@muster/core/registry'
import type { NodeColumns } from '@muster/core/selection'
import { createContextCache } from '@pothos/core'
import { and, type SQL } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import type { ApiContext } from '../../context.ts'
import { ComputeNode, nodeConnection } from '../nodes/types.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'
import { groupTree } from './tree.ts'

const { computeNodes } = schema

const nodeCounts = loader<number>(async (context, ids) =>
  countNodesOfGroups(context.ctx.db, context.ctx, await groupTree(context), [...ids]),
)

/** Selects the groups of each node in the statement that reads the nodes. One function per request, so that two fields share it. */
const groupsOfNodes = createContextCache(async (context: ApiContext) => {
  const tree = await groupTree(context)
  return (n: NodeColumns) => directGroupIds(tree, n).mapWith((ids: string) => tree.withAncestors(ids).toReversed())
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
      resolve: (g, _args, { ctx }) => setMembersBlockedReason(ctx.actor, g),
    }),
    deleteBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not delete it; null: allowed.',
      select: { columns: { name: true, isSystem: true }, with: { children: { columns: { name: true } } } },
      resolve: (g, _args, { ctx }) =>
        deleteBlockedReason(
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
    select: async (_args, context) => ({ columns: {}, extras: { groupsNearestFirst: await groupsOfNodes(context) } }),
    resolve: (n) => n.groupsNearestFirst,
  }),
)

export const groupConnection = connectionTypes(NodeGroup, 'NodeGroup', 'node groups')
