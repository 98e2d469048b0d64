import { addNode } from '@muster/core/nodes'
import { makePrivateKey, type TenantFixture } from '@muster/core/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { testApi } from '../../testing/api.ts'
import { mutate } from '../../testing/mutate.ts'
import { parseId } from '../shared/ids.ts'

let api: Awaited<ReturnType<typeof testApi>>
let tenant: TenantFixture
beforeAll(async () => {
  api = await testApi()
})
beforeEach(async () => {
  tenant = await api.given.tenant()
})
afterAll(() => api?.close())

const CREDENTIAL = 'credential { id name kind username becomeMethod host port publicKey secretsSet nodeCount via { name } }'

const create = (input: object) => mutate(api, tenant.admin, 'createCredential', CREDENTIAL, input)
const rowId = (id: string) => parseId(id)!.id
const key = { name: 'key', kind: 'SSH_KEY', username: 'ops', privateKey: makePrivateKey('right'), passphrase: 'right' }

test('creates credentials of each kind without returning their secrets', async () => {
  expect(await create(key)).toMatchObject({
    credential: {
      kind: 'SSH_KEY',
      secretsSet: ['PRIVATE_KEY', 'PASSPHRASE'],
      publicKey: expect.stringMatching(/^ssh-ed25519 /),
      nodeCount: 0,
    },
  })
  const bastion = { kind: 'BASTION', username: 'j', password: 'pass' }
  const { credential: outer } = await create({ ...bastion, name: 'outer', host: 'jump.example.com' })
  expect(await create({ ...bastion, name: 'inner', host: '::1', port: 2222, viaId: outer.id })).toMatchObject({
    credential: { host: '::1', port: 2222, via: { name: 'outer' } },
  })
  expect(await create({ name: 'sudo', kind: 'BECOME', password: 'pass', becomeMethod: 'SU' })).toMatchObject({
    credential: { becomeMethod: 'SU', secretsSet: ['PASSWORD'] },
  })
})

test('rejects a wrong passphrase, an unusable key and a duplicate name', async () => {
  expect(await create({ ...key, passphrase: 'wrong' })).toMatchObject({
    __typename: 'InvalidInputError',
    issues: [{ path: 'passphrase' }],
  })
  expect(await create({ name: 'other', kind: 'SSH_KEY', privateKey: 'nonsense' })).toMatchObject({
    __typename: 'InvalidInputError',
    issues: [{ path: 'privateKey' }],
  })
  await create(key)
  expect(await create({ name: 'key', kind: 'SSH_PASSWORD', username: 'a', password: 'pass' })).toMatchObject({
    __typename: 'ConflictError',
  })
})

test('changes a credential, rejects a cycle of bastions and lists usage', async () => {
  const update = (input: object) => mutate(api, tenant.admin, 'updateCredential', CREDENTIAL, input)
  const bastion = { kind: 'BASTION', username: 'j', password: 'pass', host: 'jump.example.com' }
  const { credential } = await create(key)
  const { credential: outer } = await create({ ...bastion, name: 'outer' })
  const { credential: inner } = await create({ ...bastion, name: 'inner', viaId: outer.id })
  expect(await update({ id: credential.id, name: 'renamed' })).toMatchObject({
    credential: { name: 'renamed', secretsSet: ['PRIVATE_KEY', 'PASSPHRASE'] },
  })
  expect(await update({ id: outer.id, viaId: inner.id })).toMatchObject({ __typename: 'InvalidInputError' })
  await addNode(tenant.operator, {
    name: 'gpu1',
    host: 'gpu1.example.com',
    credentialId: rowId(credential.id),
    bastionId: rowId(inner.id),
  })
  const { credentials } = await api.ask<{ credentials: object }>(
    tenant.viewer,
    '{ credentials(filter: { kind: [SSH_KEY, BASTION] }) { totalCount edges { node { name nodeCount } } } }',
  )
  expect(credentials).toEqual({
    totalCount: 3,
    edges: [
      { node: { name: 'renamed', nodeCount: 1 } },
      { node: { name: 'outer', nodeCount: 0 } },
      { node: { name: 'inner', nodeCount: 1 } },
    ],
  })
})

test('deletes only unused credentials', async () => {
  const remove = (id: string, as = tenant.admin) => mutate(api, as, 'deleteCredential', 'deletedId', { id })
  const { credential } = await create(key)
  await addNode(tenant.operator, { name: 'gpu1', host: 'gpu1.example.com', credentialId: rowId(credential.id) })
  expect(await remove(credential.id)).toMatchObject({
    __typename: 'ConflictError',
    message: expect.stringContaining('gpu1'),
  })
  const { credential: unused } = await create({ name: 'unused', kind: 'BECOME', password: 'pass' })
  expect(await remove(unused.id, tenant.operator)).toMatchObject({ __typename: 'ForbiddenError' })
  expect(await remove(unused.id)).toEqual({ __typename: 'DeleteCredentialPayload', deletedId: unused.id })
})

test('creates, changes and deletes a secret store', async () => {
  const STORE = 'secretStore { id name address namespace mount auth roleId }'
  const input = { name: 'vault', address: 'https://vault.test', auth: 'TOKEN', secret: 't' }
  const { secretStore } = await mutate(api, tenant.admin, 'createSecretStore', STORE, input)
  expect(secretStore).toMatchObject({ name: 'vault', mount: 'secret', namespace: null, auth: 'TOKEN' })
  const { id } = secretStore
  expect(await mutate(api, tenant.admin, 'updateSecretStore', STORE, { id, mount: 'kv' })).toMatchObject({
    secretStore: { name: 'vault', mount: 'kv' },
  })
  expect(await mutate(api, tenant.admin, 'deleteSecretStore', 'deletedId', { id })).toEqual({
    __typename: 'DeleteSecretStorePayload',
    deletedId: id,
  })
})
