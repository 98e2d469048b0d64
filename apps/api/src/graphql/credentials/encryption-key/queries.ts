import { tenantPermissions } from '@muster/core/access'
import { credentialKey } from '@muster/core/credentials'
import { builder } from '../../../builder.ts'
import { CredentialKey } from './types.ts'

builder.queryField('credentialKey', (t) =>
  t.field({
    type: CredentialKey,
    description: 'Encryption key of the secrets, and the progress of its rotation.',
    authScopes: { permission: tenantPermissions.read },
    resolve: (_root, _args, { ctx }) => credentialKey(ctx),
  }),
)
