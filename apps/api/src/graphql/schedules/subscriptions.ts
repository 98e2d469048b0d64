import { tenantPermissions } from '@muster/core/access'
import { builder } from '../../builder.ts'
import { changes } from '../shared/changes.ts'
import { rowId } from '../shared/ids.ts'
import { Schedule } from './types.ts'

builder.subscriptionFields((t) => ({
  scheduleUpdated: t.drizzleField({
    type: Schedule,
    description: 'Sends a schedule immediately and whenever it changes or was due. Without an ID, every schedule that changes.',
    authScopes: { permission: tenantPermissions.read },
    args: { id: t.arg.id({ description: 'ID of the schedule. Default: all schedules.' }) },
    subscribe: (_root, { id }, context) => changes(context, 'schedule', id ? [rowId('Schedule', id)] : null),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.schedules.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
}))
