import { tenantPermissions } from '@muster/core/access'
import { builder } from '../../builder.ts'
import { OpenchamiTarget } from './types.ts'

builder.queryField('openchamiTarget', (t) =>
  t.drizzleField({
    type: OpenchamiTarget,
    nullable: true,
    description: 'The OpenCHAMI target of the tenant; null when none is set.',
    authScopes: { permission: tenantPermissions.read },
    resolve: (query, _root, _args, { ctx }) =>
      ctx.db.query.openchamiTargets.findFirst(query({ where: { tenantId: ctx.tenantId } })),
  }),
)
