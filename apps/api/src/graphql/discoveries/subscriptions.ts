import { tenantPermissions } from '@muster/core/access'
import { builder } from '../../builder.ts'
import { changes } from '../shared/changes.ts'
import { rowId } from '../shared/ids.ts'
import { Discovery } from './types.ts'

builder.subscriptionFields((t) => ({
  discoveryUpdated: t.drizzleField({
    type: Discovery,
    description: 'Emits each discovery now and after each change. Completes when all discoveries have finished.',
    authScopes: { permission: tenantPermissions.read },
    args: { ids: t.arg.idList({ required: true, description: 'IDs of the discoveries; at most 500.' }) },
    subscribe: (_root, { ids }, context) =>
      changes(
        context,
        'discovery',
        ids.map((id) => rowId('Discovery', id)),
      ),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.discoveries.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
}))
