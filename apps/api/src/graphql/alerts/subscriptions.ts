import { builder } from '../../builder.ts'
import { changes } from '../shared/changes.ts'
import { rowId } from '../shared/ids.ts'
import { Alert } from './types.ts'

builder.subscriptionField('alertUpdated', (t) =>
  t.drizzleField({
    type: Alert,
    description: 'An alert as it is now and whenever it changes; without an id every alert of the tenant that changes.',
    authScopes: { authenticated: true },
    args: { id: t.arg.id({ description: 'Which alert; left out: all.' }) },
    subscribe: (_root, { id }, context) => changes(context, 'alert', id ? [rowId('Alert', id)] : null),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.alerts.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
)
