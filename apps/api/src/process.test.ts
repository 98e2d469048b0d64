import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createApiToken } from '@muster/core/access'
import { tenantCtx } from '@muster/core/context'
import { openVault } from '@muster/core/credentials'
import { actorRole } from '@muster/core/permissions'
import { makePrivateKey, nodeEnvironment, TEST_MASTER_PASSWORD, type TestRuntime, testRuntime } from '@muster/core/testing'
import type { LabDescription } from '@muster/lab'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openRuntime } from './runtime.ts'

let t: TestRuntime
let dir: string
let env: NodeJS.ProcessEnv
beforeAll(async () => {
  t = await testRuntime({ vault: 'real' })
  dir = mkdtempSync(join(tmpdir(), 'muster-api-'))
  env = {
    ...nodeEnvironment,
    DATABASE_URL: t.url,
    CREDENTIAL_MASTER_PASSWORD: TEST_MASTER_PASSWORD,
    MUSTER_PUBLIC_URL: 'http://localhost:3000',
    MUSTER_LAB_FILE: join(dir, 'lab.json'),
    ARTIFACT_DIR: join(dir, 'artifacts'),
  }
})
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true })
  await t?.close()
})

test('the database cancels long statements of both roles', async () => {
  const { runtime, close } = await openRuntime({ ...env, DATABASE_STATEMENT_TIMEOUT: '1', LOG_LEVEL: 'silent' }, 'test')
  onTestFinished(close)
  for (const db of [runtime.db, runtime.tenantDb(randomUUID())])
    await expect(db.execute(sql`select pg_sleep(60)`)).rejects.toMatchObject({ cause: { code: '57014' } })
})

const start = (script: string, more: NodeJS.ProcessEnv = {}) =>
  spawn(process.execPath, [fileURLToPath(new URL(script, import.meta.url))], {
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  })

async function run(script: string, more: NodeJS.ProcessEnv = {}) {
  const child = start(script, more)
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => (out += chunk))
  child.stderr.on('data', (chunk) => (err += chunk))
  const [code] = (await once(child, 'close')) as [number]
  return { out, err, code }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

test('first-start, register-lab and the API work together as processes', async () => {
  const first = await run('./first-start.ts')
  expect(first).toMatchObject({ code: 0, err: '' })
  expect(first.out.trim().split('\n')).toHaveLength(1)
  expect(JSON.parse(first.out)).toMatchObject({
    created: true,
    email: 'owner@muster.local',
    signInLink: expect.stringMatching(/^http:\/\/localhost:3000\/sign-in#token=\w+$/),
  })

  const key = { username: 'ops', privateKey: makePrivateKey(), publicKey: '', encryptedPrivateKey: '', passphrase: '' }
  const host = { host: '10.77.0.2', port: 22, hostKeyFingerprint: '', hostPublicKey: '' }
  const lab: LabDescription = {
    id: 'x',
    mode: 'namespaces',
    dir: '/',
    unavailable: {},
    boot: null,
    slurm: null,
    nodes: [
      { ...host, name: 'h100-01', profile: 'h100x8', behindBastion: false, accelerators: {} },
      { ...host, name: 'cpu-01', profile: 'cpu', behindBastion: true, accelerators: {} },
    ],
    bastion: { ...host, name: 'bastion' },
    credentials: {
      sshKey: key,
      sshPassword: { username: 'ops', password: 'pass' },
      rootKey: null,
      sudoPassword: { username: 'admin', password: 'sudo' },
      plainPassword: null,
      rootPassword: null,
      bastionKey: { ...key, username: 'jump' },
      bastionPassword: null,
    },
  }
  expect((await run('./register-lab.ts')).err).toMatch('MUSTER_LAB_FILE')
  writeFileSync(env.MUSTER_LAB_FILE!, JSON.stringify(lab))
  for (const _time of [1, 2])
    expect(await run('./register-lab.ts')).toMatchObject({ code: 0, err: '', out: '{"nodesToAdd":2}\n' })

  const [port, metricsPort] = [await freePort(), await freePort()]
  const api = start('./main.ts', {
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
    LOG_LEVEL: 'info',
    DEFAULT_TENANT_ID: '1',
  })
  let log = ''
  api.stdout.on('data', (chunk) => (log += chunk))
  const ended = once(api, 'close') as Promise<[number | null, string | null]>
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)
  await expect.poll(async () => (await get('/readyz')).status).toBe(200)
  await expect.poll(() => log).toMatch(/"level":"warn".*DEFAULT_TENANT_ID \(from the environment\) is not supported/)
  expect((await get('/healthz')).status).toBe(200)
  expect(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()).toMatch('muster_api_operation_seconds')
  expect((await get('/api/auth/session')).status).toBe(404)

  const [tenant] = await t.runtime.db.query.tenants.findMany()
  const owner = await t.runtime.db.query.members.findFirst({ where: { tenantId: tenant!.id, role: 'owner' } })
  const actor = { kind: 'user', id: owner!.userId, name: 'test', ...actorRole('owner') } as const
  const { token } = await createApiToken(tenantCtx(t.runtime, tenant!.id, actor), { name: 'test', role: 'operator' })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  const ask = async (query: string, variables = {}) =>
    (
      (await (
        await fetch(`http://127.0.0.1:${port}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query, variables }) })
      ).json()) as { data: Record<string, never> }
    ).data
  const { labOffer } = (await ask(
    'query Offer { labOffer { areCredentialsReady nodeImport { format text } nodes { name profile isBehindBastion isAdded } } }',
  )) as unknown as { labOffer: { nodeImport: object } }
  expect(labOffer).toMatchObject({
    areCredentialsReady: true,
    nodes: [
      { name: 'h100-01', isAdded: false, isBehindBastion: false },
      { name: 'cpu-01', isBehindBastion: true },
    ],
  })
  const imported = await ask(
    'mutation ($input: ImportNodesInput!) { importNodes(input: $input) { ... on ImportNodesPayload { report { rows { state issues { message } node { credential { name } bastion { name } tags } } } } } }',
    { input: labOffer.nodeImport },
  )
  expect(imported).toMatchObject({
    importNodes: {
      report: {
        rows: [
          { state: 'ADDED', issues: [], node: { credential: { name: 'lab key' }, bastion: null, tags: ['lab'] } },
          { state: 'ADDED', issues: [], node: { credential: { name: 'lab key' }, bastion: { name: 'lab bastion' } } },
        ],
      },
    },
  })

  // A restarted lab has new addresses and keys, which update the nodes and credentials.
  const moved = {
    ...lab,
    nodes: lab.nodes.map((node) => ({ ...node, host: '10.77.9.9' })),
    bastion: { ...lab.bastion!, host: '10.77.9.2' },
  }
  writeFileSync(env.MUSTER_LAB_FILE!, JSON.stringify(moved))
  expect(await run('./register-lab.ts')).toMatchObject({ code: 0, err: '', out: '{"nodesToAdd":0}\n' })

  // Machines that boot from the network get manifests, and fixed addresses before they are nodes.
  const machine = { name: 'machine-01', mac: '02:00:5e:77:00:01', address: '10.77.9.96', systemPath: '/redfish/v1/Systems/1' }
  const boot: LabDescription['boot'] = {
    hostAddress: '10.77.9.1',
    network: { subnet: '10.77.9.0/24', first: '10.77.9.112', last: '10.77.9.126' },
    kernelUrl: 'http://10.77.9.1/vmlinuz',
    initrdUrl: 'http://10.77.9.1/initrd.gz',
    machines: [machine],
    bmc: { port: 8443, username: 'admin', password: 'secret of the BMC', fingerprint: Array(32).fill('AB').join(':') },
    manifests: [{ kind: 'BootProfile' }, { kind: 'ComputeNode' }],
  }
  writeFileSync(env.MUSTER_LAB_FILE!, JSON.stringify({ ...moved, boot }))
  const registered = await run('./register-lab.ts', { BOOT_HOST: '10.77.9.1', BOOT_PORT: '8080' })
  const manifests = join(dir, 'lab-machines.yaml')
  expect(registered).toMatchObject({ code: 0, err: '' })
  expect(JSON.parse(registered.out)).toEqual({ nodesToAdd: 0, machines: { count: 1, manifests } })
  expect(readFileSync(manifests, 'utf8')).toMatch(/"kind": "BootProfile"\n}\n---\n{\n {2}"kind": "ComputeNode"/)
  const dhcp = readFileSync(join(dir, 'lab-dnsmasq.conf'), 'utf8')
  expect(dhcp).toContain('dhcp-host=02:00:5e:77:00:01,10.77.9.96,machine-01\n')
  expect(dhcp).toContain('dhcp-boot=tag:ipxe,http://10.77.9.1:8080/boot/v1/bootscript?mac=')
  expect(await ask('{ nodes { edges { node { host status bastion { host } } } } }')).toMatchObject({
    nodes: {
      edges: [
        { node: { host: '10.77.9.9', status: 'NEW', bastion: { host: '10.77.9.2' } } },
        { node: { host: '10.77.9.9', status: 'NEW', bastion: null } },
      ],
    },
  })

  // An open subscription does not prevent shutdown.
  const stream = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { ...headers, accept: 'text/event-stream' },
    body: JSON.stringify({ query: 'subscription { nodeUpdated { id } }' }),
  })
  expect(stream.status).toBe(200)
  api.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(log).toMatch('"operation":"Offer"')
  expect(log).not.toMatch(token)
})

test('reports the reason when it cannot start, without a stack trace', async () => {
  const wrong = await run('./main.ts', { PORT: '99999' })
  expect(wrong).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^The API cannot start\. Invalid configuration:\n {2}PORT \(from the environment\)/),
  })
  expect(wrong.err).not.toMatch(/\n {4}at /)
})

test('waits for the database at start and survives its loss', async () => {
  const [proxyPort, port] = [await freePort(), await freePort()]
  const database = new URL(t.url)
  const sockets = new Set<Socket>()
  const open = async () => {
    const server = createServer((socket) => {
      const upstream = connect(Number(database.port), database.hostname)
      for (const [one, other] of [
        [socket, upstream],
        [upstream, socket],
      ] as const) {
        sockets.add(one)
        one.pipe(other)
        one.on('error', () => other.destroy())
        one.on('close', () => other.destroy())
      }
    }).listen(proxyPort, '127.0.0.1')
    await once(server, 'listening')
    return () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }
  const proxied = new URL(t.url)
  proxied.host = `127.0.0.1:${proxyPort}`
  const child = start('./main.ts', { DATABASE_URL: proxied.href, PORT: String(port) })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  try {
    await expect.poll(() => output).toContain('waiting for the database')
    expect(output).toMatch(/"reason":"[^"]*ECONNREFUSED/)
    expect(output).not.toMatch(/select|Failed query|\n {4}at /)
    const cut = await open()
    await expect.poll(() => output).toContain('API listening')
    const status = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status
    await expect.poll(() => status('/readyz')).toBe(200)
    cut()
    await expect.poll(() => status('/readyz')).toBe(503)
    expect(await status('/healthz')).toBe(200)
    const cutAgain = await open()
    await expect.poll(() => status('/readyz')).toBe(200)
    expect(child.exitCode).toBeNull()
    cutAgain()
  } finally {
    child.kill('SIGKILL')
    await once(child, 'close')
  }
})

test('changes the master password from files', { timeout: 300_000 }, async () => {
  const [current, next] = [join(dir, 'current'), join(dir, 'next')]
  writeFileSync(current, TEST_MASTER_PASSWORD)
  writeFileSync(next, 'the next master password\n')
  const settings = { CREDENTIAL_MASTER_PASSWORD: '', CREDENTIAL_MASTER_PASSWORD_FILE: current }
  const none = await run('./change-master-password.ts', settings)
  expect(none).toMatchObject({ code: 1, out: '', err: expect.stringContaining('NEW_CREDENTIAL_MASTER_PASSWORD_FILE') })
  const changed = await run('./change-master-password.ts', { ...settings, NEW_CREDENTIAL_MASTER_PASSWORD_FILE: next })
  expect(changed).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Restart every API and worker') })
  await expect(openVault(t.runtime.db, TEST_MASTER_PASSWORD, 1)).rejects.toThrow('is incorrect')
  await openVault(t.runtime.db, 'the next master password', 1)
})
