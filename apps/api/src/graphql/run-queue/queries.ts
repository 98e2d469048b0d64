import { tenantPermissions } from '@muster/core/access'
import { builder } from '../../builder.ts'
import { ownTenant, QueueState } from './types.ts'

builder.queryFields((t) => ({
  queue: t.field({
    type: QueueState,
    description: 'The queue of the tenant.',
    authScopes: { permission: tenantPermissions.read },
    resolve: (_root, _args, context) => ownTenant(context),
  }),
}))
