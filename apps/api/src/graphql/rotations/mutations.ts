import { Conflict, NotFound } from '@muster/core/errors'
import {
  cancelCredentialRotation,
  completeCredentialRotation,
  resumeCredentialRotation,
  rotateCredential,
} from '@muster/core/rotations'
import { given, rowId } from '../shared/ids.ts'
import { type InputFields, mutation } from '../shared/mutation.ts'
import { CredentialRotation } from './types.ts'

const payload = { credentialRotation: { type: CredentialRotation, description: 'The rotation.' } }
const errors = [Conflict, NotFound]
const idField = (t: InputFields) => ({ id: t.id({ required: true, description: 'ID of the rotation.' }) })

mutation('rotateCredential', {
  description:
    'Starts to replace the secret of a credential of the kind SSH_KEY or SSH_PASSWORD on all nodes that use it. Follow it with the subscription `credentialRotationUpdated`.',
  input: (t) => ({
    id: t.id({ required: true, description: 'ID of the credential.' }),
    privateKey: t.string({ description: 'SSH_KEY only: new private key in PEM or OpenSSH format. Default: a new Ed25519 key.' }),
    passphrase: t.string({ description: 'Passphrase of the new private key.' }),
    password: t.string({ description: 'SSH_PASSWORD only: new password. Default: a random password.' }),
  }),
  idempotent: true,
  payload,
  errors,
  resolve: async (input, { ctx }) => ({
    credentialRotation: await rotateCredential(ctx, { ...given(input), id: rowId('Credential', input.id) }),
  }),
})

mutation('resumeCredentialRotation', {
  description: 'Resumes a paused rotation: tries its failed nodes again.',
  input: idField,
  payload,
  errors,
  resolve: async ({ id }, { ctx }) => ({
    credentialRotation: await resumeCredentialRotation(ctx, { id: rowId('CredentialRotation', id) }),
  }),
})

mutation('completeCredentialRotation', {
  description:
    'Completes a paused rotation without its failed nodes: the credential gets the new secret, and the failed nodes get a new credential with the previous one.',
  input: idField,
  payload,
  errors,
  resolve: async ({ id }, { ctx }) => ({
    credentialRotation: await completeCredentialRotation(ctx, { id: rowId('CredentialRotation', id) }),
  }),
})

mutation('cancelCredentialRotation', {
  description: 'Cancels a rotation before the credential has the new secret: the previous secret is restored on all nodes.',
  input: idField,
  payload,
  errors,
  resolve: async ({ id }, { ctx }) => ({
    credentialRotation: await cancelCredentialRotation(ctx, { id: rowId('CredentialRotation', id) }),
  }),
})
