import { tenantPermissions } from '@muster/core/access'
import { builder } from '../../builder.ts'
import { changes } from '../shared/changes.ts'
import { rowId } from '../shared/ids.ts'
import { Trigger } from './types.ts'

builder.subscriptionFields((t) => ({
  triggerUpdated: t.drizzleField({
    type: Trigger,
    description:
      'Sends a webhook trigger immediately and whenever it changes or received a request. Without an ID, every trigger that changes.',
    authScopes: { permission: tenantPermissions.read },
    args: { id: t.arg.id({ description: 'ID of the trigger. Default: all triggers.' }) },
    subscribe: (_root, { id }, context) => changes(context, 'trigger', id ? [rowId('Trigger', id)] : null),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.triggers.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
}))
