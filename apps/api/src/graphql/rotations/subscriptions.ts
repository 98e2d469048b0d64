import { tenantPermissions } from '@muster/core/access'
import { builder } from '../../builder.ts'
import { changes } from '../shared/changes.ts'
import { rowId } from '../shared/ids.ts'
import { CredentialRotation } from './types.ts'

builder.subscriptionFields((t) => ({
  credentialRotationUpdated: t.drizzleField({
    type: CredentialRotation,
    description: 'Emits a rotation of a credential now and after each change. Completes when it has finished.',
    authScopes: { permission: tenantPermissions.read },
    args: { id: t.arg.id({ required: true, description: 'Rotation ID.' }) },
    subscribe: (_root, { id }, context) => changes(context, 'credentialRotation', [rowId('CredentialRotation', id)]),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.credentialRotations.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
}))
