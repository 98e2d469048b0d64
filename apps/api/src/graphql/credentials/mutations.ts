import { testCredential } from '@muster/core/connections'
import { createCredential, deleteCredential, updateCredential } from '@muster/core/credentials'
import { Conflict, InvalidInput, NotFound } from '@muster/core/errors'
import { builder } from '../../builder.ts'
import { ConnectionTest } from '../connections/types.ts'
import { given, globalId, rowId, rowIdIfGiven } from '../shared/ids.ts'
import { deletedPayload, type InputFields, mutation } from '../shared/mutation.ts'
import { BecomeMethod, CredentialKind, SecretField } from './enums.ts'
import { Credential } from './types.ts'

const SecretRefInput = builder.inputType('SecretRefInput', {
  description: 'Location of the value of a secret field in a secret store.',
  fields: (t) => ({
    field: t.field({ type: SecretField, required: true, description: 'Secret field.' }),
    path: t.string({ required: true, description: 'Path of the secret below the mount.' }),
    key: t.string({ required: true, description: 'Key of the value in the secret.' }),
  }),
})

/** References keyed by field, as the verbs take them. */
function byField<T extends null | undefined>(refs: (typeof SecretRefInput.$inferInput)[] | T) {
  if (refs && refs.length > 3) throw new InvalidInput([{ path: 'secretRefs', message: 'at most 3' }])
  return refs && Object.fromEntries(refs.map(({ field, path, key }) => [field, { path, key }]))
}

const NAME = 'Name, unique in the tenant.'
const payload = { credential: { type: Credential, description: 'The credential.' } }
const errors = [Conflict, NotFound]
const idField = (t: InputFields) => ({ id: t.id({ required: true, description: 'ID of the credential.' }) })

const optionalFields = (t: InputFields) => ({
  description: t.string({ description: 'Free text.' }),
  username: t.string({ description: 'Login name. For BECOME: the user to become.' }),
  privateKey: t.string({ description: 'Private key in PEM or OpenSSH format.' }),
  passphrase: t.string({ description: 'Passphrase of the private key.' }),
  password: t.string({
    description:
      'Password. For GIT: a password or access token. For SALT: a password or the shared secret. For SLURMRESTD: a token (JWT).',
  }),
  becomeMethod: t.field({ type: BecomeMethod, description: 'BECOME only: command that changes the user.' }),
  host: t.string({
    description: 'BASTION, GIT, SALT and SLURMRESTD: host name or address. A change removes the approved host key.',
  }),
  port: t.int({
    description:
      'BASTION: SSH port; default: 22. GIT: port of the server; default: that of the protocol. SALT: port of salt-api; default: 8000. SLURMRESTD: its port; default: 6820.',
  }),
  hostKey: t.string({ description: 'GIT with a private key: host key of the server, a line in known_hosts format.' }),
  allowedHosts: t.stringList({
    description:
      'SSH_PASSWORD, BECOME and BMC: hosts to which the password may be sent, at most 50: networks (`10.0.0.0/8`) for addresses, patterns (`*.example.org`) for names, or `*` for every host.',
  }),
  viaId: t.id({ description: 'BASTION only: ID of the bastion through which this bastion is reached.' }),
  secretStoreId: t.id({ description: 'ID of the secret store that contains the values of `secretRefs`.' }),
  secretRefs: t.field({
    type: [SecretRefInput],
    description:
      'All secret fields that are read from the secret store. At most 3. Values stored in Muster for these fields are deleted.',
  }),
})

mutation('createCredential', {
  description:
    'Creates a credential. The kind determines the allowed fields. A password without `allowedHosts` is allowed on every host. Secrets are encrypted and cannot be read back.',
  input: (t) => ({
    name: t.string({ required: true, description: NAME }),
    kind: t.field({ type: CredentialKind, required: true, description: 'Kind of the credential.' }),
    ...optionalFields(t),
  }),
  idempotent: true,
  payload,
  errors,
  resolve: async (input, { ctx }) => ({
    credential: await createCredential(ctx, {
      ...given(input),
      viaId: rowIdIfGiven('Credential', input.viaId ?? undefined),
      secretStoreId: rowIdIfGiven('SecretStore', input.secretStoreId ?? undefined),
      secretRefs: byField(input.secretRefs ?? undefined),
    }),
  }),
})

mutation('updateCredential', {
  description: 'Changes a credential. Omitted fields keep their values; null clears a field.',
  input: (t) => ({ ...idField(t), name: t.string({ description: NAME }), ...optionalFields(t) }),
  payload,
  errors,
  // The verb rejects null for fields that are required.
  resolve: async (input, { ctx }) => ({
    credential: await updateCredential(ctx, {
      ...input,
      id: rowId('Credential', input.id),
      viaId: rowIdIfGiven('Credential', input.viaId),
      secretStoreId: rowIdIfGiven('SecretStore', input.secretStoreId),
      secretRefs: byField(input.secretRefs),
    } as Parameters<typeof updateCredential>[1]),
  }),
})

mutation('testCredential', {
  description:
    'Starts a connection test that uses this credential instead of the credential of the same kind of the node. The node does not change. Follow the test with the subscription `connectionTestUpdated`.',
  input: (t) => ({
    ...idField(t),
    nodeId: t.id({ required: true, description: 'ID of the node. Its host key must be approved.' }),
  }),
  idempotent: true,
  payload: { connectionTest: { type: ConnectionTest, description: 'The started test.' } },
  errors,
  resolve: async ({ id, nodeId, idempotencyKey }, { ctx }) => ({
    connectionTest: await testCredential(ctx, {
      id: rowId('Credential', id),
      nodeId: rowId('ComputeNode', nodeId),
      idempotencyKey,
    }),
  }),
})

mutation('deleteCredential', {
  description: 'Deletes an unused credential.',
  input: idField,
  payload: deletedPayload,
  errors,
  resolve: async ({ id }, { ctx }) => ({
    deletedId: globalId('Credential', (await deleteCredential(ctx, { id: rowId('Credential', id) })).id),
  }),
})
