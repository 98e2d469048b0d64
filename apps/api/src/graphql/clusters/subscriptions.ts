import { tenantPermissions } from '@muster/core/access'
import { builder } from '../../builder.ts'
import { changes } from '../shared/changes.ts'
import { rowId } from '../shared/ids.ts'
import { SlurmClusterTest } from './tests.ts'
import { SlurmCluster } from './types.ts'

builder.subscriptionFields((t) => ({
  slurmClusterUpdated: t.drizzleField({
    type: SlurmCluster,
    description:
      'Emits a Slurm cluster now and after each refresh and change. Without `id`: every changed cluster of the tenant.',
    authScopes: { permission: tenantPermissions.read },
    args: { id: t.arg.id({ description: 'Cluster ID. Default: all clusters.' }) },
    subscribe: (_root, { id }, context) => changes(context, 'slurmCluster', id ? [rowId('SlurmCluster', id)] : null),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.slurmClusters.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
  slurmClusterTestUpdated: t.drizzleField({
    type: SlurmClusterTest,
    description: 'Emits a test of a Slurm controller now and after each command. Completes when it has finished.',
    authScopes: { permission: tenantPermissions.read },
    args: { id: t.arg.id({ required: true, description: 'ID of the test.' }) },
    subscribe: (_root, { id }, context) => changes(context, 'slurmClusterTest', [rowId('SlurmClusterTest', id)]),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.slurmClusterTests.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
}))
