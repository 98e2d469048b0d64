import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Ctx } from '../../kernel/context.ts'
import { DomainError } from '../../kernel/errors.ts'
import { makePrivateKey, type TenantFixture } from '../../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { resolveNodeAccess } from '../access.ts'
import { createCredential } from '../create-credential.ts'
import type { OpenStore, ReadSecret } from '../secret-source.ts'
import { updateCredential } from '../update-credential.ts'
import { createSecretStore } from './create-secret-store.ts'
import { deleteSecretStore } from './delete-secret-store.ts'
import { updateSecretStore } from './update-secret-store.ts'

let t: TestRuntime
let ours: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
})
afterAll(() => t.close())

let count = 0
const aStore = (input: Partial<Parameters<typeof createSecretStore>[1]> = {}, ctx: Ctx = ours.admin) =>
  createSecretStore(ctx, {
    name: `store ${++count}`,
    address: 'https://vault.test:8200',
    auth: 'TOKEN',
    secret: 'hvs.token',
    ...input,
  })

describe('a secret store', () => {
  test('stores its token encrypted and its address as an origin', async () => {
    const store = await aStore({ address: 'https://Vault.Test:8200/', namespace: 'team/a', mount: 'kv' })
    expect(store).toMatchObject({ address: 'https://vault.test:8200', namespace: 'team/a', mount: 'kv', roleId: null })
    expect(JSON.stringify(store)).not.toContain('hvs.token')
    await expect(aStore({ name: store.name })).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(aStore({}, ours.operator)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  test.each([
    ['http://vault.test:8200', 'https://'],
    ['http://169.254.169.254', 'https://'],
    ['http://localhost.evil.test', 'https://'],
    ['file:///etc/passwd', 'https://'],
    ['https://user:pw@vault.test', 'nothing more'],
    ['https://vault.test/v1/sys', 'nothing more'],
    ['vault.test:8200', 'https://'],
    ['', 'must look like'],
  ])('rejects the address %j', async (address, message) => {
    await expect(aStore({ address })).rejects.toMatchObject({
      issues: [{ path: 'address', message: expect.stringContaining(message) }],
    })
  })

  test.each(['http://127.0.0.1:8200', 'http://localhost:8200', 'http://[::1]:8200'])(
    'accepts the address %s',
    async (address) => {
      expect((await aStore({ address })).address).toBe(address)
    },
  )

  test.each(['../sys', 'a/./b', 'a//b', '/a', 'a?b', 'a%2e'])('rejects the mount %j', async (mount) => {
    await expect(aStore({ mount })).rejects.toMatchObject({ issues: [{ path: 'mount' }] })
  })

  test('requires a role ID for AppRole and rejects one for a token', async () => {
    await expect(aStore({ auth: 'APP_ROLE' })).rejects.toMatchObject({ issues: [{ path: 'roleId' }] })
    await expect(aStore({ roleId: 'r' })).rejects.toMatchObject({ issues: [{ path: 'roleId' }] })
    expect(await aStore({ auth: 'APP_ROLE', roleId: 'r' })).toMatchObject({ roleId: 'r' })
  })

  test('of AWS requires region and access key, and has the endpoint of its region', async () => {
    const aws = {
      kind: 'AWS_SECRETS_MANAGER',
      auth: 'ACCESS_KEY',
      region: 'eu-central-1',
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    } as const
    const make = (input: object) => aStore({ ...aws, address: undefined, secret: 'wJalrXUtnFEMI', ...input })
    const store = await make({})
    expect(store).toMatchObject({ ...aws, address: 'https://secretsmanager.eu-central-1.amazonaws.com', mount: null })
    expect(await make({ region: 'cn-north-1' })).toMatchObject({ address: 'https://secretsmanager.cn-north-1.amazonaws.com.cn' })
    for (const [input, path] of [
      [{ region: null }, 'region'],
      [{ accessKeyId: null }, 'accessKeyId'],
      [{ auth: 'TOKEN' }, 'auth'],
      [{ mount: 'kv' }, 'mount'],
      [{ roleId: 'r' }, 'roleId'],
      [{ region: 'EU' }, 'region'],
      [{ kind: 'VAULT' }, 'auth'],
    ] as const)
      await expect(make(input), JSON.stringify(input)).rejects.toMatchObject({ issues: [expect.objectContaining({ path })] })
    await expect(aStore({ address: undefined })).rejects.toMatchObject({ issues: [{ path: 'address', message: 'is required' }] })

    const moved = { id: store.id, region: 'us-east-1' }
    await expect(updateSecretStore(ours.admin, moved)).rejects.toMatchObject({ issues: [{ path: 'secret' }] })
    expect(await updateSecretStore(ours.admin, { ...moved, secret: 'again' })).toMatchObject({
      region: 'us-east-1',
      address: 'https://secretsmanager.us-east-1.amazonaws.com',
    })
  })

  test('does not send its secret to another address', async () => {
    const { id } = await aStore()
    await expect(updateSecretStore(ours.admin, { id, address: 'https://elsewhere.test' })).rejects.toMatchObject({
      issues: [{ path: 'secret' }],
    })
    expect(await updateSecretStore(ours.admin, { id, mount: 'kv' })).toMatchObject({
      mount: 'kv',
      address: 'https://vault.test:8200',
    })
    expect(await updateSecretStore(ours.admin, { id, address: 'https://elsewhere.test', secret: 'new' })).toMatchObject({
      address: 'https://elsewhere.test',
    })
    const stranger = await t.given.tenant()
    await expect(updateSecretStore(stranger.admin, { id, mount: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(deleteSecretStore(stranger.admin, { id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('a credential in a store', () => {
  const ref = { path: 'nodes/gpu', key: 'password' }

  test('is read once for all of its fields and nodes', async () => {
    const store = await aStore({ namespace: 'team' })
    const key = makePrivateKey()
    const credential = await createCredential(ours.admin, {
      name: 'stored key',
      kind: 'SSH_KEY',
      username: 'ops',
      secretStoreId: store.id,
      secretRefs: { privateKey: { path: 'nodes/gpu', key: 'ssh key' } },
    })
    const become = await createCredential(ours.admin, {
      name: 'stored',
      kind: 'BECOME',
      secretStoreId: store.id,
      secretRefs: { password: ref },
    })
    expect(credential).toMatchObject({ encrypted: {}, publicKey: null })
    const nodes = await t.given.fleet(ours.operator, {
      nodes: 3,
      prefix: 'stored',
      with: { credentialId: credential.id, becomeCredentialId: become.id },
    })
    const reads: [OpenStore, string][] = []
    let content: Record<string, unknown> = { password: 'from there', 'ssh key': key.replaceAll('\n', '\r\n') }
    const readSecret: ReadSecret = async (...args) => {
      reads.push(args)
      return content
    }
    const ids = nodes.map((node) => node.id)
    const access = await resolveNodeAccess(ours.worker, ids, { readSecret })
    for (const id of ids) expect(access.get(id)).toMatchObject({ login: { privateKey: key }, become: { password: 'from there' } })
    expect(reads).toEqual([[expect.objectContaining({ name: store.name, namespace: 'team', secret: 'hvs.token' }), 'nodes/gpu']])

    const failing = async () => (await resolveNodeAccess(ours.worker, ids, { readSecret })).get(ids[0]!)
    content = { 'ssh key': key }
    expect(await failing()).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('"password" of secret/nodes/gpu in the secret store'),
    })
    content = { password: 'abc', 'ssh key': key }
    expect(await failing()).toMatchObject({ message: expect.stringContaining('has fewer than 4 characters') })
    content = { password: 'xxxx', 'ssh key': 'no key' }
    const rejected = await failing()
    expect(rejected).toBeInstanceOf(DomainError)
    expect(rejected).toMatchObject({
      message: expect.stringContaining('The private key of stored key in its secret store is invalid'),
    })
    expect(await resolveNodeAccess(ours.worker, ids).then((m) => m.get(ids[0]!))).toMatchObject({ code: 'CONFLICT' })
  })

  test('stores each field either in Muster or in the store, and can move it', async () => {
    const store = await aStore()
    const make = (input: object) =>
      createCredential(ours.admin, { name: `moving ${++count}`, kind: 'SSH_PASSWORD', username: 'ops', ...input })
    await expect(make({ secretRefs: { password: ref } })).rejects.toMatchObject({ issues: [{ path: 'secretStoreId' }] })
    await expect(make({ password: 'pass', secretStoreId: store.id })).rejects.toMatchObject({ issues: [{ path: 'secretRefs' }] })
    const both = { password: 'pass', secretStoreId: store.id, secretRefs: { password: ref } }
    await expect(make(both)).rejects.toMatchObject({ issues: [{ path: 'password' }] })
    await expect(make({ secretStoreId: store.id, secretRefs: { privateKey: ref } })).rejects.toMatchObject({
      issues: expect.arrayContaining([expect.objectContaining({ path: 'secretRefs.privateKey' })]),
    })
    const stranger = await t.given.tenant()
    const theirs = await aStore({}, stranger.admin)
    await expect(make({ secretStoreId: theirs.id, secretRefs: { password: ref } })).rejects.toMatchObject({
      issues: [{ path: 'secretStoreId' }],
    })

    const { id } = await make({ password: 'here' })
    const there = await updateCredential(ours.admin, { id, secretStoreId: store.id, secretRefs: { password: ref } })
    expect(there).toMatchObject({ encrypted: {}, secretStoreId: store.id, secretRefs: { password: ref } })
    await expect(deleteSecretStore(ours.admin, { id: store.id })).rejects.toThrow(/is used by moving/)
    await expect(updateCredential(ours.admin, { id, secretRefs: null })).rejects.toMatchObject({ issues: [{ path: 'password' }] })
    const back = await updateCredential(ours.admin, { id, password: 'here again' })
    expect(back).toMatchObject({ encrypted: { password: expect.any(String) }, secretStoreId: null, secretRefs: {} })
    expect(await deleteSecretStore(ours.admin, { id: store.id })).toEqual({ id: store.id })
  })
})
