import { rotateCredentialKey } from '@muster/core/credentials'
import { Conflict } from '@muster/core/errors'
import { builder } from '../../../builder.ts'
import { COMMON } from '../../shared/errors.ts'
import { CredentialKey } from './types.ts'

builder.mutationField('rotateCredentialKey', (t) =>
  t.field({
    type: CredentialKey,
    description: 'Make a new key and have workers seal all secrets anew with it, while everything runs.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict] },
    resolve: (_root, _args, { ctx }) => rotateCredentialKey(ctx),
  }),
)
