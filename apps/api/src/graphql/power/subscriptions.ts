import { tenantPermissions } from '@muster/core/access'
import { builder } from '../../builder.ts'
import { changes } from '../shared/changes.ts'
import { rowId } from '../shared/ids.ts'
import { PowerRun } from './types.ts'

builder.subscriptionFields((t) => ({
  powerRunUpdated: t.drizzleField({
    type: PowerRun,
    description: 'Emits a power run now and after each change. Completes when it has finished.',
    authScopes: { permission: tenantPermissions.read },
    args: { id: t.arg.id({ required: true, description: 'ID of the power run.' }) },
    subscribe: (_root, { id }, context) => changes(context, 'powerRun', [rowId('PowerRun', id)]),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.powerRuns.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
}))
