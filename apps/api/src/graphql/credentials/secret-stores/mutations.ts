import { createSecretStore, deleteSecretStore, updateSecretStore } from '@muster/core/credentials'
import { Conflict, NotFound } from '@muster/core/errors'
import { given, globalId, rowId } from '../../shared/ids.ts'
import { type DefaultText, deletedPayload, type InputFields, keepsValue, mutation, statesDefault } from '../../shared/mutation.ts'
import { SecretStoreAuth, SecretStoreKind } from './enums.ts'
import { SecretStore } from './types.ts'

const NAME = 'Name, unique in the tenant.'
const ADDRESS = '`https://HOST[:PORT]`. `http://` is allowed only for loopback addresses of the worker.'
const AUTH = 'Authentication method.'
const SECRET = 'Token, secret ID of the AppRole, or secret access key. It is encrypted and cannot be read back.'
const payload = { secretStore: { type: SecretStore, description: 'The secret store.' } }
const idField = (t: InputFields) => ({ id: t.id({ required: true, description: 'ID of the secret store.' }) })

const optionalFields = (t: InputFields, defaultText: DefaultText) => ({
  namespace: t.string({ description: `VAULT only: namespace.${defaultText('the root namespace')}` }),
  mount: t.string({ description: `VAULT only: mount path of the KV engine, version 2.${defaultText('`secret`')}` }),
  roleId: t.string({ description: 'APP_ROLE only: role ID.' }),
  region: t.string({ description: 'AWS_SECRETS_MANAGER only: region, for example `eu-central-1`.' }),
  accessKeyId: t.string({ description: 'ACCESS_KEY only: access key ID.' }),
})

mutation('createSecretStore', {
  description: 'Adds a HashiCorp Vault, an OpenBao or an AWS Secrets Manager.',
  input: (t) => ({
    name: t.string({ required: true, description: NAME }),
    kind: t.field({ type: SecretStoreKind, description: 'Kind. Default: VAULT.' }),
    address: t.string({ description: `${ADDRESS} Default for AWS_SECRETS_MANAGER: the endpoint of the region.` }),
    auth: t.field({ type: SecretStoreAuth, required: true, description: AUTH }),
    secret: t.string({ required: true, description: SECRET }),
    ...optionalFields(t, statesDefault),
  }),
  idempotent: true,
  payload,
  errors: [Conflict],
  resolve: async (input, { ctx }) => ({ secretStore: await createSecretStore(ctx, given(input)) }),
})

mutation('updateSecretStore', {
  description: 'Changes a secret store. Omitted fields keep their values; null clears a field.',
  input: (t) => ({
    ...idField(t),
    name: t.string({ description: NAME }),
    address: t.string({ description: `${ADDRESS} A change requires \`secret\`.` }),
    auth: t.field({ type: SecretStoreAuth, description: `${AUTH} A change requires \`secret\`.` }),
    secret: t.string({ description: SECRET }),
    ...optionalFields(t, keepsValue),
  }),
  payload,
  errors: [Conflict, NotFound],
  // The verb rejects null for fields that are required.
  resolve: async (input, { ctx }) => ({
    secretStore: await updateSecretStore(ctx, { ...input, id: rowId('SecretStore', input.id) } as Parameters<
      typeof updateSecretStore
    >[1]),
  }),
})

mutation('deleteSecretStore', {
  description: 'Deletes a secret store that no credential uses.',
  input: idField,
  payload: deletedPayload,
  errors: [Conflict, NotFound],
  resolve: async ({ id }, { ctx }) => ({
    deletedId: globalId('SecretStore', (await deleteSecretStore(ctx, { id: rowId('SecretStore', id) })).id),
  }),
})
