import { tenantPermissions } from '@muster/core/access'
import { builder } from '../../builder.ts'
import { changes } from '../shared/changes.ts'
import { rowId } from '../shared/ids.ts'
import { ComputeNode } from './types.ts'

builder.subscriptionFields((t) => ({
  nodeUpdated: t.drizzleField({
    type: ComputeNode,
    description: 'Emits a node now and after each change. Without `id`: every changed node of the tenant.',
    authScopes: { permission: tenantPermissions.read },
    args: { id: t.arg.id({ description: 'Node ID. Default: all nodes.' }) },
    subscribe: (_root, { id }, context) => changes(context, 'node', id ? [rowId('ComputeNode', id)] : null),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.computeNodes.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
}))
