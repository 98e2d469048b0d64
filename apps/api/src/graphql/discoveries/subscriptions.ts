import { builder } from '../../builder.ts'
import { changes } from '../shared/changes.ts'
import { rowId } from '../shared/ids.ts'
import { Discovery } from './types.ts'

builder.subscriptionFields((t) => ({
  discoveryUpdated: t.drizzleField({
    type: Discovery,
    description: 'Discoveries, first each as it is now and then whenever one changes. Ends when all of them are over.',
    authScopes: { authenticated: true },
    args: { ids: t.arg.idList({ required: true, description: 'Which discoveries.' }) },
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
