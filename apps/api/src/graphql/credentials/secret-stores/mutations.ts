import { createSecretStore, deleteSecretStore, updateSecretStore } from '@muster/core/credentials'
import { Conflict, NotFound } from '@muster/core/errors'
import { builder } from '../../../builder.ts'
import { Deleted } from '../../shared/deleted.ts'
import { COMMON } from '../../shared/errors.ts'
import { given, globalId, rowId } from '../../shared/ids.ts'
import { SecretStoreAuth } from './enums.ts'
import { SecretStore } from './types.ts'

const SECRET = 'The token, or the secret ID of the role. Sealed at once and never given out again.'

const CreateSecretStoreInput = builder.inputType('CreateSecretStoreInput', {
  description: 'A secret store to make known.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Its name, unique in the tenant.' }),
    address: t.string({
      required: true,
      description: 'https://HOST[:PORT]; http:// on addresses of the worker’s own machine only.',
    }),
    namespace: t.string({ description: 'The namespace in it.' }),
    mount: t.string({ description: 'Where its KV engine, version 2, is mounted; left out: secret.' }),
    auth: t.field({ type: SecretStoreAuth, required: true, description: 'How Muster signs in.' }),
    roleId: t.string({ description: 'APP_ROLE only: the role.' }),
    secret: t.string({ required: true, description: SECRET }),
  }),
})

const UpdateSecretStoreInput = builder.inputType('UpdateSecretStoreInput', {
  description: 'What to change of a secret store; what is left out stays as it is.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Which store.' }),
    name: t.string({ description: 'Its name, unique in the tenant.' }),
    address: t.string({ description: 'Another address; its secret has to be given with it.' }),
    namespace: t.string({ description: 'The namespace in it; null: the root.' }),
    mount: t.string({ description: 'Where its KV engine, version 2, is mounted.' }),
    auth: t.field({ type: SecretStoreAuth, description: 'Another way to sign in; its secret has to be given with it.' }),
    roleId: t.string({ description: 'APP_ROLE only: the role; null takes it away.' }),
    secret: t.string({ description: SECRET }),
  }),
})

builder.mutationFields((t) => ({
  createSecretStore: t.field({
    type: SecretStore,
    description: 'Make a HashiCorp Vault or OpenBao known.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict] },
    args: { input: t.arg({ type: CreateSecretStoreInput, required: true, description: 'Which.' }) },
    resolve: (_root, { input }, { ctx }) => createSecretStore(ctx, given(input)),
  }),
  updateSecretStore: t.field({
    type: SecretStore,
    description: 'Change a secret store.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { input: t.arg({ type: UpdateSecretStoreInput, required: true, description: 'What to change.' }) },
    resolve: (_root, { input }, { ctx }) =>
      // Null where a field cannot be empty is for the verb to refuse.
      updateSecretStore(ctx, { ...input, id: rowId('SecretStore', input.id) } as Parameters<typeof updateSecretStore>[1]),
  }),
  deleteSecretStore: t.field({
    type: Deleted,
    description: 'Forget a secret store that no credential uses.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { id: t.arg.id({ required: true, description: 'Which store.' }) },
    resolve: async (_root, { id }, { ctx }) => {
      const deleted = await deleteSecretStore(ctx, { id: rowId('SecretStore', id) })
      return { id: globalId('SecretStore', deleted.id) }
    },
  }),
}))
