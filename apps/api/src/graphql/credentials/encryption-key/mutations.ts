import { credentialAudit, rotateCredentialKey } from '@muster/core/credentials'
import { Conflict } from '@muster/core/errors'
import { mutation } from '../../shared/mutation.ts'
import { CredentialKey } from './types.ts'

mutation('rotateCredentialKey', {
  action: credentialAudit.rotateKey,
  description: 'Creates a new encryption key. Workers re-encrypt all secrets with it in the background.',
  payload: { credentialKey: { type: CredentialKey, description: 'The new key and the progress of the rotation.' } },
  errors: [Conflict],
  resolve: async (_input, { ctx }) => ({ credentialKey: await rotateCredentialKey(ctx) }),
})
