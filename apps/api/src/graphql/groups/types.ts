import {
  countNodesOfGroups,
  deleteBlockedReason,
  directGroupIds,
  type GROUP_KINDS,
  renameBlockedReason,
  setMembersBlockedReason,
  updateBlockedReason,
} from '@muster/core/groups'
import type { NodeColumns } from '@muster/core/selection'
import { createContextCache } from '@pothos/core'
import { type ResolveCursorConnectionArgs, resolveCursorConnection } from '@pothos/plugin-relay'
import { builder } from '../../builder.ts'
import type { ApiContext } from '../../context.ts'
import { ComputeNode, nodeConnection } from '../nodes/types.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { same } from '../shared/enum-values.ts'
import { loader } from '../shared/loaders.ts'
import { nodePage } from './node-pages.ts'
import { groupTree } from './tree.ts'

const nodeCounts = loader<number>(async (context, ids) =>
  countNodesOfGroups(context.ctx.db, context.ctx, await groupTree(context), [...ids]),
)

/** Selects the groups of each node in the statement that reads the nodes. One function per request, so that two fields share it. */
const groupsOfNodes = createContextCache(async (context: ApiContext) => {
  const tree = await groupTree(context)
  return (n: NodeColumns) => directGroupIds(tree, n).mapWith((ids: string) => tree.withAncestors(ids).toReversed())
})

/** `ComputeNode.groups` returns at most this many. */
const MAX_GROUPS = 500

/** The managed Slurm cluster that uses a group. */
const MANAGED = { columns: { name: true }, where: { kind: 'MANAGED' } } as const

export const NodeGroupKind = builder.enumType('NodeGroupKind', {
  description: 'What a group of nodes stands for. It changes nothing else.',
  values: same({
    AD_HOC: 'Any set of nodes.',
    PROJECT: 'The nodes of a project or customer.',
    PARTITION: 'A partition of a cluster.',
    JOB: 'The nodes of a job.',
  } satisfies Record<(typeof GROUP_KINDS)[number], string>),
})

export const NodeGroup = builder.drizzleNode('nodeGroups', {
  name: 'NodeGroup',
  description: 'A group of nodes, an Ansible group.',
  select: { columns: { id: true } },
  id: { column: (g) => g.id, description: 'Node group ID.' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Inventory name, unique in the tenant.' }),
    displayName: t.exposeString('displayName', { nullable: true, description: 'Display name.' }),
    description: t.exposeString('description', { description: 'Free text; can be empty.' }),
    kind: t.expose('kind', { type: NodeGroupKind, description: 'What the group stands for.' }),
    priority: t.exposeInt('priority', {
      description: 'Precedence of variables among groups at the same depth: the lower number wins.',
    }),
    isSystem: t.exposeBoolean('isSystem', {
      description: 'Whether the group is a system group: it cannot be renamed or deleted.',
    }),
    parent: t.relation('parent', {
      nullable: true,
      description:
        'Parent group. It contains the nodes of this group; its variables have lower precedence. Null at the top level.',
    }),
    memberQuery: t.exposeString('memberQuery', {
      nullable: true,
      description: 'Query whose matching nodes are the members; null for a group with a list of members.',
    }),
    exclusiveSet: t.string({
      nullable: true,
      description: 'Exclusive set: a node is a member of at most one group of the same set. Null when the group belongs to none.',
      select: { columns: { exclusiveSet: true } },
      resolve: (g) => g.exclusiveSet || null,
    }),
    nodeCount: t.int({
      description: 'Number of nodes in the group and its child groups.',
      resolve: async (g, _args, context) => (await nodeCounts(context, g.id))!,
    }),
    nodes: t.connection(
      {
        type: ComputeNode,
        description: 'Nodes of the group and its child groups, in order of creation.',
        select: { columns: { id: true } },
        ...PAGED,
        resolve: async (g, args, context) => {
          const page = await resolveCursorConnection(
            { args, maxSize: PAGED.maxSize(args), defaultSize: PAGED.defaultSize, toCursor: (n) => (n as { id: string }).id },
            ({ after, before, limit, inverted }: ResolveCursorConnectionArgs) =>
              nodePage(context, g.id, { after, before, limit, inverted }),
          )
          return { ...page, totalCount: async () => (await nodeCounts(context, g.id))! }
        },
      },
      ...nodeConnection,
    ),
    setMembersBlockedReason: t.string({
      nullable: true,
      description: 'Reason why the caller cannot change the members; null when allowed.',
      select: { columns: { name: true, memberQuery: true }, with: { slurmClusters: MANAGED } },
      resolve: (g, _args, { ctx }) => setMembersBlockedReason(ctx.actor, g, g.slurmClusters[0]?.name ?? null),
    }),
    updateBlockedReason: t.string({
      nullable: true,
      description: 'Reason why the caller cannot change the group; null when allowed.',
      resolve: (_g, _args, { ctx }) => updateBlockedReason(ctx.actor),
    }),
    renameBlockedReason: t.string({
      nullable: true,
      description: 'Reason why the caller cannot rename the group; null when allowed.',
      select: { columns: { name: true, isSystem: true } },
      resolve: (g, _args, { ctx }) => renameBlockedReason(ctx.actor, g),
    }),
    deleteBlockedReason: t.string({
      nullable: true,
      description: 'Reason why the caller cannot delete the group; null when allowed.',
      select: {
        columns: { name: true, isSystem: true },
        with: { children: { columns: { name: true } }, slurmClusters: MANAGED, bootRules: { columns: { name: true } } },
      },
      resolve: (g, _args, { ctx }) =>
        deleteBlockedReason(
          ctx.actor,
          g,
          g.children.map((child) => child.name),
          { cluster: g.slurmClusters[0]?.name ?? null, bootRules: g.bootRules.map((rule) => rule.name) },
        ),
    }),
  }),
})

builder.drizzleObjectField(ComputeNode, 'groups', (t) =>
  t.field({
    type: [NodeGroup],
    description: `Groups of the node, direct or through a child group. The variables of a group win over those of later groups. At most ${MAX_GROUPS}.`,
    select: async (_args, context) => ({ columns: {}, extras: { groupsNearestFirst: await groupsOfNodes(context) } }),
    resolve: (n) => n.groupsNearestFirst.slice(0, MAX_GROUPS),
  }),
)

export const groupConnection = connectionTypes(NodeGroup, 'NodeGroup', 'node groups')

builder.drizzleObjectFields(NodeGroup, (t) => ({
  children: t.relatedConnection(
    'children',
    {
      description: 'Child groups, sorted by name. Their nodes are members of this group too.',
      totalCount: true,
      query: { orderBy: { name: 'asc' } },
      ...PAGED,
    },
    ...groupConnection,
  ),
}))
