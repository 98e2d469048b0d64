import { tenantPermissions } from '@muster/core/access'
import { builder } from '../../builder.ts'
import { ComputeNode } from '../nodes/types.ts'
import { changes } from '../shared/changes.ts'
import { rowId } from '../shared/ids.ts'

builder.subscriptionFields((t) => ({
  nodeBootUpdated: t.drizzleField({
    type: ComputeNode,
    description: 'Emits a node now and after each change of its boots: stages, fetches, READY.',
    authScopes: { permission: tenantPermissions.read },
    args: { id: t.arg.id({ required: true, description: 'Node ID.' }) },
    subscribe: (_root, { id }, context) => changes(context, 'nodeBoot', [rowId('ComputeNode', id)]),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.computeNodes.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
}))
