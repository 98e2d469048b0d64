import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiToken } from '../access/index.ts'
import { allowAgentKey, createEnrollmentToken } from '../agents/index.ts'
import { createAlertRoute, createAlertSilence, testAlertRoute } from '../alerts/index.ts'
import { testConnections, testCredential } from '../connections/index.ts'
import { createCredential, createSecretStore } from '../credentials/index.ts'
import { discoverNodes } from '../discoveries/index.ts'
import { createNodeGroup, deleteNodeGroup, nodeGroups } from '../groups/index.ts'
import { Conflict, Forbidden } from '../kernel/errors.ts'
import { addNode, computeNodes, importNodes } from '../nodes/index.ts'
import { retryJobRun, runJob } from '../runs/index.ts'
import { createJobTemplate, uploadPlaybookBundle } from '../templates/index.ts'
import { tarGz } from '../testing/archives.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { insertRun } from '../testing/insert-run.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { pruneIdempotencyKeys } from './prune-idempotency-keys.ts'
import { idempotencyKeys } from './tables.ts'

const SECRET = 'signs webhook messages'
let t: TestRuntime
let fixture: TenantFixture
const ids: Record<'node' | 'credential' | 'run' | 'route', string> = { node: '', credential: '', run: '', route: '' }
beforeAll(async () => {
  t = await testRuntime()
  fixture = await t.given.tenant()
  const credential = await t.given.credential(fixture.admin, 'SSH_KEY')
  const [node] = await t.given.fleet(fixture.admin, { nodes: 1, with: { credentialId: credential.id } })
  const route = await createAlertRoute(fixture.admin, { name: 'hook', kind: 'webhook', url: 'http://192.0.2.1/', secret: SECRET })
  const run = await insertRun(fixture.operator, { status: 'FAILED', nodes: [node!] })
  Object.assign(ids, { node: node!.id, credential: credential.id, route: route.id, run: run.id })
})
afterAll(() => t.close())

const keyOf = (byte: number) => Buffer.alloc(32, byte).toString('base64')
const archive = tarGz([{ path: 'site.yml', text: '- hosts: all\n' }])
const playbook = { playbookPath: 'connectivity_check.yml' }
const inAnHour = new Date(Date.now() + 3_600_000)

type Request = (key: string, change?: object) => Promise<unknown>
/** Every verb that creates something: a request, and a change that makes it another one. */
const REQUESTS: Record<string, [Request, change: object]> = {
  addNode: [(k, c) => addNode(fixture.admin, { name: k, host: '192.0.2.9', idempotencyKey: k, ...c }), { host: '192.0.2.8' }],
  importNodes: [
    (k, c) => importNodes(fixture.admin, { format: 'LIST', text: 'imp[1-3]\nbad name', idempotencyKey: k, ...c }),
    { text: 'imp4' },
  ],
  createNodeGroup: [(k, c) => createNodeGroup(fixture.admin, { name: k, idempotencyKey: k, ...c }), { priority: 3 }],
  createCredential: [
    (k, c) => createCredential(fixture.admin, { name: k, kind: 'BECOME', password: 'first', idempotencyKey: k, ...c } as never),
    { password: 'second' },
  ],
  createSecretStore: [
    (k, c) =>
      createSecretStore(fixture.admin, {
        name: k,
        address: 'https://vault.example.org',
        auth: 'TOKEN',
        secret: 'first',
        idempotencyKey: k,
        ...c,
      }),
    { secret: 'second' },
  ],
  createJobTemplate: [
    (k, c) => createJobTemplate(fixture.admin, { name: k, ...playbook, idempotencyKey: k, ...c }),
    { forks: 3 },
  ],
  uploadPlaybookBundle: [
    (k, c) => uploadPlaybookBundle(fixture.admin, { name: 'site.tgz', content: archive, idempotencyKey: k, ...c }),
    { name: 'other.tgz' },
  ],
  createAlertRoute: [
    (k, c) =>
      createAlertRoute(fixture.admin, {
        name: k,
        kind: 'webhook',
        url: 'http://192.0.2.1/first',
        secret: SECRET,
        idempotencyKey: k,
        ...c,
      } as never),
    { url: 'http://192.0.2.1/second' },
  ],
  testAlertRoute: [
    (k, c) => testAlertRoute(fixture.admin, { id: ids.route, idempotencyKey: k, ...c }),
    { id: crypto.randomUUID() },
  ],
  createAlertSilence: [
    (k, c) => createAlertSilence(fixture.admin, { matcher: {}, reason: 'move', endsAt: inAnHour, idempotencyKey: k, ...c }),
    { reason: 'other' },
  ],
  allowAgentKey: [(k, c) => allowAgentKey(fixture.admin, { publicKey: keyOf(7), idempotencyKey: k, ...c }), { note: 'other' }],
  testConnections: [
    (k, c) => testConnections(fixture.admin, { nodeIds: [ids.node], idempotencyKey: k, ...c }),
    { nodeIds: [crypto.randomUUID()] },
  ],
  testCredential: [
    (k, c) => testCredential(fixture.admin, { id: ids.credential, nodeId: ids.node, idempotencyKey: k, ...c }),
    { id: crypto.randomUUID() },
  ],
  discoverNodes: [(k, c) => discoverNodes(fixture.admin, { nodeIds: [ids.node], idempotencyKey: k, ...c }), { nodeIds: null }],
  runJob: [
    (k, c) => runJob(fixture.admin, { template: 'connectivity_check', nodeIds: [ids.node], idempotencyKey: k, ...c }),
    { forks: 2 },
  ],
  retryJobRun: [(k, c) => retryJobRun(fixture.admin, { id: ids.run, idempotencyKey: k, ...c }), { reason: 'other' }],
}
const SHOWN_ONCE: typeof REQUESTS = {
  createApiToken: [
    (k, c) => createApiToken(fixture.admin, { name: 'ci', role: 'viewer', idempotencyKey: k, ...c }),
    { name: 'other' },
  ],
  createEnrollmentToken: [(k, c) => createEnrollmentToken(fixture.admin, { idempotencyKey: k, ...c }), { note: 'other' }],
}
const keys = () => t.runtime.db.$count(idempotencyKeys)

describe.each(Object.entries(REQUESTS))('%s', (verb, [request, change]) => {
  test('returns the first result for the same key and input, also concurrently', async () => {
    const [first, ...others] = await Promise.all([1, 2, 3].map(() => request(verb)))
    expect(others).toEqual([first, first])
    expect(await request(verb)).toEqual(first)
  })

  test('rejects the same key with other input', async () => {
    await expect(request(verb, change)).rejects.toThrow(
      `The idempotency key ${verb} was used for a ${verb} request with other input`,
    )
  })
})

describe.each(Object.entries(SHOWN_ONCE))('%s', (verb, [request, change]) => {
  test('creates one token per key and does not show it again', async () => {
    await request(verb)
    await expect(request(verb)).rejects.toThrow(/is shown once. Revoke it and create another one with a new key/)
    await expect(request(verb, change)).rejects.toThrow('with other input')
  })
})

test('leaves no key when the request fails', async () => {
  const before = await keys()
  const request = () => createNodeGroup(fixture.operator, { name: 'taken', idempotencyKey: 'fails' })
  const { id } = await createNodeGroup(fixture.operator, { name: 'taken' })
  await expect(request()).rejects.toThrow(Conflict)
  expect(await keys()).toBe(before)
  await deleteNodeGroup(fixture.operator, { id })
  expect(await request()).toMatchObject({ name: 'taken' })
})

test('names the next step when the result was deleted', async () => {
  const request = () => createNodeGroup(fixture.operator, { name: 'short_lived', idempotencyKey: 'deleted' })
  await deleteNodeGroup(fixture.operator, { id: (await request()).id })
  await expect(request()).rejects.toThrow('was deleted. Use a new key.')
})

test('keeps the keys of tenants and verbs apart', async () => {
  const theirs = await t.given.tenant()
  const ours = await createNodeGroup(fixture.operator, { name: 'shared', idempotencyKey: 'shared' })
  const other = await createNodeGroup(theirs.operator, { name: 'shared', idempotencyKey: 'shared' })
  expect(other.id).not.toBe(ours.id)
  expect(await addNode(fixture.operator, { name: 'shared', host: '192.0.2.7', idempotencyKey: 'shared' })).toMatchObject({
    name: 'shared',
  })
})

test('stores no input, and creates again after seven days', async () => {
  const request = (k: string) => createNodeGroup(fixture.operator, { name: k, description: 'from a form', idempotencyKey: k })
  const [old, recent] = [await request('old'), await request('recent')]
  const rows = await t.runtime.db.select().from(idempotencyKeys)
  expect(JSON.stringify(rows)).not.toContain('from a form')
  const age = (key: string, days: number) =>
    t.runtime.db
      .update(idempotencyKeys)
      .set({ createdAt: sql`now() - make_interval(days => ${days})` })
      .where(eq(idempotencyKeys.key, key))
  await age('old', 8)
  await age('recent', 6)
  expect(await pruneIdempotencyKeys(t.runtime)).toBe(1)
  expect(await request('recent')).toEqual(recent)
  await t.runtime.db.delete(nodeGroups).where(eq(nodeGroups.id, old.id))
  expect((await request('old')).id).not.toBe(old.id)
  await expect(pruneIdempotencyKeys({ ...t.runtime, actor: fixture.owner.actor })).rejects.toThrow(Forbidden)
})

test('an import that is repeated reports the nodes as they are now', async () => {
  const request = () => importNodes(fixture.operator, { format: 'LIST', text: 'again1', idempotencyKey: 'again' })
  const { rows } = await request()
  await t.runtime.db.update(computeNodes).set({ notes: 'changed' }).where(eq(computeNodes.id, rows[0]!.node!.id))
  expect(await request()).toMatchObject({ addedCount: 1, rows: [{ state: 'ADDED', node: { name: 'again1', notes: 'changed' } }] })
})
