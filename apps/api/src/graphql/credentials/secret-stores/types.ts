import { credentialPermissions } from '@muster/core/credentials'
import { builder } from '../../../builder.ts'
import { connectionTypes, PAGED } from '../../shared/connections.ts'
import { Credential, credentialConnection } from '../types.ts'
import { SecretStoreAuth, SecretStoreKind } from './enums.ts'

export const SecretStore = builder.drizzleNode('secretStores', {
  name: 'SecretStore',
  description: 'A server with the secrets of credentials. Only workers connect to it.',
  authScopes: { permission: credentialPermissions.read },
  select: { columns: { id: true } },
  id: { column: (store) => store.id, description: 'Secret store ID.' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, unique in the tenant.' }),
    kind: t.expose('kind', { type: SecretStoreKind, description: 'Kind.' }),
    address: t.exposeString('address', { description: 'Address, for example `https://vault.example.org:8200`.' }),
    namespace: t.exposeString('namespace', {
      nullable: true,
      description: 'VAULT only: namespace; null for the root namespace.',
    }),
    mount: t.exposeString('mount', { nullable: true, description: 'VAULT only: mount path of the KV engine, version 2.' }),
    auth: t.expose('auth', { type: SecretStoreAuth, description: 'Authentication method.' }),
    roleId: t.exposeString('roleId', { nullable: true, description: 'APP_ROLE only: role ID.' }),
    region: t.exposeString('region', {
      nullable: true,
      description: 'AWS_SECRETS_MANAGER only: region, for example `eu-central-1`.',
    }),
    accessKeyId: t.exposeString('accessKeyId', { nullable: true, description: 'ACCESS_KEY only: access key ID.' }),
    credentials: t.relatedConnection(
      'credentials',
      { description: 'Credentials with secrets in the store, in order of creation.', totalCount: true, ...PAGED },
      ...credentialConnection,
    ),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of creation.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'Time of the last change.' }),
  }),
})

builder.drizzleObjectFields(Credential, (t) => ({
  secretStore: t.relation('secretStore', {
    nullable: true,
    description: 'Secret store with the values of `secretRefs`; null when all secrets are stored in Muster.',
  }),
}))

export const storeConnection = connectionTypes(SecretStore, 'SecretStore', 'secret stores')
