import { builder } from '../../builder.ts'
import { changes } from '../shared/changes.ts'
import { rowId } from '../shared/ids.ts'
import { ConnectionTest } from './types.ts'

builder.subscriptionFields((t) => ({
  connectionTestUpdated: t.drizzleField({
    type: ConnectionTest,
    description: 'Connection tests, first each as it is now and then whenever one changes. Ends when all of them are over.',
    authScopes: { authenticated: true },
    args: { ids: t.arg.idList({ required: true, description: 'Which tests.' }) },
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
