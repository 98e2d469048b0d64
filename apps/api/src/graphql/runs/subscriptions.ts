import { tenantPermissions } from '@muster/core/access'
import { builder } from '../../builder.ts'
import { changes } from '../shared/changes.ts'
import { rowId } from '../shared/ids.ts'
import { JobRun } from './types.ts'

builder.subscriptionFields((t) => ({
  jobRunUpdated: t.drizzleField({
    type: JobRun,
    description:
      'Sends a run immediately and whenever it changes, until it ends. Without an ID, sends every run of the tenant that changes.',
    authScopes: { permission: tenantPermissions.read },
    args: { id: t.arg.id({ description: 'Run ID. Default: all runs.' }) },
    subscribe: (_root, { id }, context) => changes(context, 'jobRun', id ? [rowId('JobRun', id)] : null),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.jobRuns.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
}))
