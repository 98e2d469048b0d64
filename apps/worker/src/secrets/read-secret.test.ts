import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { OpenStore } from '@muster/core/credentials'
import { outboundSettings } from '@muster/core/outbound'
import { LOOPBACK } from '@muster/core/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMoto, type TestMoto } from '../testing/moto.ts'
import { startOpenBao, type TestBao } from '../testing/openbao.ts'
import { createReadSecret } from './read-secret.ts'

const SECRET = 'correct horse'
const STORE: OpenStore = {
  id: 'store-1',
  name: 'vault',
  kind: 'VAULT',
  address: 'http://127.0.0.1:9',
  namespace: null,
  mount: 'secret',
  auth: 'TOKEN',
  roleId: null,
  region: null,
  accessKeyId: null,
  secret: 'a-token',
}

describe.skipIf(!process.env.OPENBAO)('a real OpenBao', () => {
  let bao: TestBao
  let store: OpenStore
  beforeAll(async () => {
    bao = await startOpenBao()
    store = { ...STORE, address: bao.address, secret: bao.rootToken }
    await bao.write('secret/data/nodes/gpu', { data: { password: SECRET, port: 22 } })
  })
  afterAll(() => bao.stop())

  it('reads a secret by token', async () => {
    expect(await createReadSecret(LOOPBACK)(store, 'nodes/gpu')).toEqual({ password: SECRET, port: 22 })
  })

  it('reads the newest version and signs in with an AppRole once', async () => {
    await bao.write('sys/auth/approle', { type: 'approle' })
    await bao.write('sys/policies/acl/muster', { policy: 'path "secret/data/nodes/*" { capabilities = ["read"] }' })
    await bao.write('auth/approle/role/muster', { token_policies: 'muster', token_num_uses: 4 })
    const { role_id: roleId } = await bao.read('auth/approle/role/muster/role-id')
    const { secret_id: secret } = await bao.write('auth/approle/role/muster/secret-id', {})
    const role: OpenStore = { ...store, auth: 'APP_ROLE', roleId: String(roleId), secret: String(secret) }
    const read = createReadSecret(LOOPBACK)
    expect(await Promise.all([read(role, 'nodes/gpu'), read(role, 'nodes/gpu')])).toHaveLength(2)
    await bao.write('secret/data/nodes/gpu', { data: { password: 'newer' } })
    expect(await read(role, 'nodes/gpu')).toEqual({ password: 'newer' })
    await expect(read(role, 'others')).rejects.toThrow(
      /does not allow Muster to read secret\/others; .*policy allows reading secret\/data\/others/,
    )
    // The token allows four uses, so all reads shared one token.
    await expect(read(role, 'nodes/gpu')).rejects.toThrow(/does not allow Muster to read/)
    await expect(createReadSecret(LOOPBACK)({ ...role, secret: 'wrong' }, 'nodes/gpu')).rejects.toThrow(
      /rejects the role; .*new secret ID/,
    )
  })

  it('names the store, the path and the next step', async () => {
    const read = createReadSecret(LOOPBACK)
    const failing = async (change: Partial<OpenStore>, path = 'nodes/gpu') =>
      createReadSecret(LOOPBACK)({ ...store, ...change }, path).then(String, (error: Error) => error.message)
    await expect(read(store, 'nodes/none')).rejects.toThrow(
      `The secret store vault (${bao.address}) has no secret at secret/nodes/none; store it there, or correct the path or the mount.`,
    )
    expect(await failing({ secret: 'wrong' })).toContain(
      'does not allow Muster to read secret/nodes/gpu; check that its token has not expired',
    )
    expect(await failing({ mount: 'elsewhere' })).toMatch(/no secret at elsewhere\/nodes\/gpu|does not allow/)
    expect(await failing({ namespace: 'team-a' })).toMatch(/The secret store vault .* (does not allow|has no secret|responds)/)
    await bao.write('sys/mounts/old', { type: 'kv', options: { version: '1' } })
    await bao.write('old/data/x', { a: 'b' })
    expect(await failing({ mount: 'old' }, 'x')).toContain('has no KV version 2 engine at old')
    await bao.write('sys/seal', {})
    expect(await failing({})).toContain('is sealed or in maintenance')
  })
})

describe.runIf(process.env.MOTO && process.env.TEST_PYTHON)('AWS Secrets Manager (moto)', () => {
  let moto: TestMoto
  let store: OpenStore
  beforeAll(async () => {
    moto = await startMoto()
    store = {
      ...STORE,
      ...{ name: 'aws', kind: 'AWS_SECRETS_MANAGER', auth: 'ACCESS_KEY', mount: null, region: 'eu-central-1' },
      ...{ address: moto.address, accessKeyId: 'AKIAIOSFODNN7EXAMPLE' },
    }
    await moto.putSecret('nodes/gpu', JSON.stringify({ password: SECRET, port: 22 }))
    await moto.putSecret('nodes/key', 'a plain text')
  })
  afterAll(() => moto.stop())

  it('reads the keys of a JSON object, and other text as SecretString', async () => {
    const read = createReadSecret(LOOPBACK)
    expect(await read(store, 'nodes/gpu')).toEqual({ password: SECRET, port: 22 })
    expect(await read(store, 'nodes/key')).toEqual({ SecretString: 'a plain text' })
    expect(await read(store, await moto.putSecret('nodes/new', '{"a":"b"}'))).toEqual({ a: 'b' })
  })

  it('names the store, the path and the next step', async () => {
    await expect(createReadSecret(LOOPBACK)(store, 'nodes/none')).rejects.toThrow(
      `The secret store aws (${moto.address}) has no secret at nodes/none in eu-central-1; store it there, or correct the path or the region.`,
    )
  })
})

describe('an arbitrary HTTP server', () => {
  let server: Server
  let address: string
  const seen: IncomingMessage[] = []
  let act: (request: IncomingMessage, respond: (status: number, headers: Record<string, string>, body: string) => void) => void
  beforeAll(async () => {
    server = createServer((request, response) => {
      seen.push(request)
      act(request, (status, headers, body) => response.writeHead(status, headers).end(body))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const failing = (change: Partial<OpenStore> = {}, timeoutMs = 5000) =>
    createReadSecret(LOOPBACK, timeoutMs)({ ...STORE, address, ...change }, 'a/b').then(
      () => 'read',
      (error: Error & { code: string }) => `${error.code} ${error.message}`,
    )

  it('follows no redirects, times out, quotes no response, and puts no token into the URL', async () => {
    act = (request, respond) =>
      request.url === '/v1/secret/data/a/b' ? respond(307, { location: `${address}/elsewhere` }, '') : respond(200, {}, '{}')
    expect(await failing()).toMatch(/^CONFLICT .*redirects/)
    expect(seen.map((request) => request.url)).toEqual(['/v1/secret/data/a/b'])
    expect(seen[0]!.headers).toMatchObject({ 'x-vault-token': 'a-token', 'x-vault-request': 'true' })
    act = () => {}
    expect(await failing({}, 50)).toMatch(/^UNAVAILABLE .*did not respond within 0\.05 s/)
    act = (_request, respond) => respond(418, {}, 'the private page of another service')
    expect(await failing()).toBe(
      `CONFLICT The secret store vault (${address}) responds with 418; check that it is a HashiCorp Vault or OpenBao.`,
    )
    act = (_request, respond) => respond(200, {}, `{"data":{"data":{"password":"${'x'.repeat(2_000_000)}"}}}`)
    expect(await failing()).toMatch(/no KV version 2 engine/)
    expect(await failing({ address: 'http://127.0.0.1:10009' })).toMatch(/^UNAVAILABLE .*cannot be reached \(ECONNREFUSED\)/)
  })

  it('connects to local addresses only if the installation lists them', async () => {
    act = (_request, respond) => respond(200, {}, '{"data":{"data":{"password":"x"}}}')
    seen.length = 0
    const { port } = new URL(address)
    const reading = (entries: string, store: Partial<OpenStore> = {}) =>
      createReadSecret(outboundSettings.LOCAL_TARGETS.parse(entries))({ ...STORE, address, ...store }, 'a/b')
    const aws = { kind: 'AWS_SECRETS_MANAGER', auth: 'ACCESS_KEY', region: 'eu-central-1', accessKeyId: 'A' } as const
    for (const store of [{}, aws, { address: `http://localhost:${port}` }, { address: 'http://169.254.169.254' }])
      for (const entries of ['', '127.0.0.1:1'])
        await expect(reading(entries, store)).rejects.toThrow(/is rejected\. .*metadata service.*list .* in LOCAL_TARGETS/)
    expect(seen).toEqual([])
    expect(await reading(`127.0.0.1:${port}`)).toEqual({ password: 'x' })
  })

  it('explains the errors of AWS, signs the request, and does not send the secret access key', async () => {
    const aws = {
      kind: 'AWS_SECRETS_MANAGER',
      auth: 'ACCESS_KEY',
      region: 'eu-central-1',
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    } as const
    const errors = {
      AccessDeniedException: /does not allow Muster to read a\/b; .*secretsmanager:GetSecretValue/,
      DecryptionFailure: /cannot decrypt a\/b; .*kms:Decrypt/,
      UnrecognizedClientException: /rejects the access key AKIAIOSFODNN7EXAMPLE/,
      InvalidRequestException: /scheduled for deletion/,
      Other: /responds with 400; check that it is an endpoint of AWS/,
    }
    for (const [error, message] of Object.entries(errors)) {
      act = (_request, respond) => respond(400, {}, JSON.stringify({ __type: `com.amazonaws#${error}`, Message: SECRET }))
      const text = await failing(aws)
      expect(text).toMatch(message)
      expect(text).not.toContain(SECRET)
    }
    act = (_request, respond) => respond(200, {}, '{"SecretBinary":"AAAA"}')
    expect(await failing(aws)).toMatch(/binary value at a\/b/)
    const { headers } = seen.at(-1)!
    expect(headers['x-amz-target']).toBe('secretsmanager.GetSecretValue')
    expect(headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/\d{8}\/eu-central-1\/secretsmanager\//,
    )
    expect(JSON.stringify(headers)).not.toContain(STORE.secret)
  })
})
