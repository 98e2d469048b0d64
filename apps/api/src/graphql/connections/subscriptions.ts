import { tenantPermissions } from '@muster/core/access'
import { builder } from '../../builder.ts'
import { changes } from '../shared/changes.ts'
import { rowId } from '../shared/ids.ts'
import { ConnectionTest } from './types.ts'

builder.subscriptionFields((t) => ({
  connectionTestUpdated: t.drizzleField({
    type: ConnectionTest,
    description: 'Emits each connection test now and after each change. Completes when all tests have finished.',
    authScopes: { permission: tenantPermissions.read },
    args: { ids: t.arg.idList({ required: true, description: 'IDs of the connection tests; at most 500.' }) },
    subscribe: (_root, { ids }, context) =>
      changes(
        context,
        'connectionTest',
        ids.map((id) => rowId('ConnectionTest', id)),
      ),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.connectionTests.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
}))
