import { builder } from '../../../builder.ts'
import { connectionTypes } from '../../shared/connections.ts'
import { Credential } from '../types.ts'
import { SecretStoreAuth } from './enums.ts'

export const SecretStore = builder.drizzleNode('secretStores', {
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

export const storeConnection = connectionTypes(SecretStore, 'SecretStore', 'secret stores')
