import { tenantPermissions } from '@muster/core/access'
import { builder } from '../../builder.ts'
import { changes } from '../shared/changes.ts'
import { rowId } from '../shared/ids.ts'
import { SlurmAction } from './types.ts'

builder.subscriptionFields((t) => ({
  slurmActionUpdated: t.drizzleField({
    type: SlurmAction,
    description: 'Emits an action on a Slurm cluster now and after each change. Completes when it has finished.',
    authScopes: { permission: tenantPermissions.read },
    args: { id: t.arg.id({ required: true, description: 'ID of the action.' }) },
    subscribe: (_root, { id }, context) => changes(context, 'slurmAction', [rowId('SlurmAction', id)]),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.slurmActions.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
}))
