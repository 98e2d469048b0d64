import { schema, visibleTo } from '@muster/core/db'
import { builder } from '../builder.ts'
import { connectionTypes, PAGED } from './connections.ts'
import { nodeConnection } from './nodes.ts'

const { nodeGroups } = schema

export const NodeGroup = builder.drizzleNode('nodeGroups', {
  name: 'NodeGroup',
  description: 'Nodes that belong together, an Ansible group.',
  select: { columns: { id: true } },
  id: { column: (g) => g.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name in inventories, unique in the tenant.' }),
    displayName: t.exposeString('displayName', { nullable: true, description: 'A name for people.' }),
    description: t.exposeString('description', { description: 'Free text; empty when there is none.' }),
    priority: t.exposeInt('priority', { description: "Among a node's groups the one with the lower number wins." }),
    isSystem: t.exposeBoolean('isSystem', { description: 'Whether Muster itself made it.' }),
    nodeCount: t.relatedCount('nodes', { description: 'How many nodes are in it.' }),
    nodes: t.relatedConnection(
      'nodes',
      { description: 'Nodes in it, in the order in which they were added.', totalCount: true, ...PAGED },
      ...nodeConnection,
    ),
  }),
})

export const groupConnection = connectionTypes(NodeGroup, 'NodeGroup', 'node groups')

builder.queryField('nodeGroups', (t) =>
  t.drizzleConnection(
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
)
