import { createSecretStore, deleteSecretStore, updateSecretStore } from '@muster/core/credentials'
import { schema, visibleTo } from '@muster/core/db'
import { Conflict, NotFound } from '@muster/core/errors'
import { builder } from '../builder.ts'
import { connectionTypes, PAGED } from './connections.ts'
import { Deleted } from './credential-mutations.ts'
import { Credential } from './credentials.ts'
import { SecretStoreAuth } from './enums.ts'
import { COMMON } from './errors.ts'
import { given, globalId, rowId } from './ids.ts'

const SecretStore = builder.drizzleNode('secretStores', {
  name: 'SecretStore',
  description: 'A HashiCorp Vault or OpenBao in which credentials may keep their secrets. Only workers talk to it.',
  select: { columns: { id: true } },
  id: { column: (store) => store.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name, unique in the tenant.' }),
    address: t.exposeString('address', { description: 'Where it is, `https://vault.example.org:8200`.' }),
    namespace: t.exposeString('namespace', { nullable: true, description: 'The namespace in it; null: the root.' }),
    mount: t.exposeString('mount', { description: 'Where its KV engine, version 2, is mounted.' }),
    auth: t.expose('auth', { type: SecretStoreAuth, description: 'How Muster signs in.' }),
    roleId: t.exposeString('roleId', { nullable: true, description: 'APP_ROLE only: the role.' }),
    credentials: t.relation('credentials', { description: 'Who keeps secrets in it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
})

builder.drizzleObjectFields(Credential, (t) => ({
  secretStore: t.relation('secretStore', { nullable: true, description: 'Where it keeps secrets; null: sealed in Muster.' }),
}))

const storeConnection = connectionTypes(SecretStore, 'SecretStore', 'secret stores')

builder.queryField('secretStores', (t) =>
  t.drizzleConnection(
    {
      type: SecretStore,
      description: 'Secret stores, in the order in which they were made.',
      authScopes: { authenticated: true },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(schema.secretStores, visibleTo(ctx, schema.secretStores)),
      resolve: (query, _root, _args, { ctx }) => ctx.db.query.secretStores.findMany(query({ where: { tenantId: ctx.tenantId } })),
    },
    ...storeConnection,
  ),
)

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
