import { tenantPermissions } from '@muster/core/access'
import { builder } from '../../builder.ts'
import { changes } from '../shared/changes.ts'
import { rowId } from '../shared/ids.ts'
import { SlurmOperation } from './types.ts'

builder.queryField('slurmOperation', (t) =>
  t.drizzleField({
    type: SlurmOperation,
    nullable: true,
    description: 'Operation on a Slurm cluster; null when there is none with this ID.',
    authScopes: { permission: tenantPermissions.read },
    args: { id: t.arg.id({ required: true, description: 'ID of the operation.' }) },
    resolve: (query, _root, { id }, { ctx }) =>
      ctx.db.query.slurmOperations.findFirst(query({ where: { tenantId: ctx.tenantId, id: rowId('SlurmOperation', id) } })),
  }),
)

builder.subscriptionFields((t) => ({
  slurmOperationUpdated: t.drizzleField({
    type: SlurmOperation,
    description: 'Emits an operation on a Slurm cluster now and after each change. Completes when it has finished.',
    authScopes: { permission: tenantPermissions.read },
    args: { id: t.arg.id({ required: true, description: 'ID of the operation.' }) },
    subscribe: (_root, { id }, context) => changes(context, 'slurmOperation', [rowId('SlurmOperation', id)]),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.slurmOperations.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
}))
