import { createHmac } from 'node:crypto'
import { request } from 'node:http'
import { removeMember } from '@muster/core/access'
import { auditEntries } from '@muster/core/audit'
import type { Ctx } from '@muster/core/registry'
import { schema } from '@muster/core/registry'
import { createJobTemplate } from '@muster/core/templates'
import type { TenantFixture } from '@muster/core/testing'
import { createTrigger, pruneTriggerDeliveries, rotateTriggerSecret, type Trigger, updateTrigger } from '@muster/core/triggers'
import { and, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApi } from '../testing/api.ts'
import { type HttpServer, serveHttp } from './server.ts'

const { computeNodes, jobRuns, members, tenants, triggerDeliveries, triggers } = schema

let t: Awaited<ReturnType<typeof testApi>>
let server: HttpServer
let ours: TenantFixture
beforeAll(async () => {
  t = await testApi()
  server = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await server?.stop()
  await t?.close()
})
const prepare = async () => {
  const tenant = await t.given.tenant()
  const { id: credentialId } = await t.given.credential(tenant.admin, 'SSH_KEY')
  await t.given.fleet(tenant.admin, { nodes: 3, with: { credentialId } })
  await createJobTemplate(tenant.admin, {
    name: 'deploy',
    playbookPath: 'connectivity_check.yml',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      properties: { version: { type: 'string', pattern: '^v\\d+$' }, channel: { type: 'string' } },
    },
  })
  return tenant
}
beforeEach(async () => {
  ours = await prepare()
})

type Made = { trigger: Trigger; secret: string }
let count = 0
const make = (fields: Partial<Parameters<typeof createTrigger>[1]> = {}, ctx: Ctx = ours.operator): Promise<Made> =>
  createTrigger(ctx, {
    name: `trigger ${++count}`,
    template: 'deploy',
    limit: 'gpu[001-002]',
    settings: { extraVars: { channel: 'stable' } },
    variables: [{ name: 'version', path: '/release/tag', isRequired: true }],
    ...fields,
  })

const now = () => Math.floor(Date.now() / 1000)
const sign = (secret: string, content: string) => `sha256=${createHmac('sha256', secret).update(content).digest('hex')}`
const signed = (secret: string, body: string, timestamp = now()) => ({
  'x-muster-timestamp': String(timestamp),
  'x-muster-signature': sign(secret, `${timestamp}.${body}`),
})
/** Different events. */
const event = (n: number) => JSON.stringify({ release: { tag: 'v7' }, n })
const RELEASE = JSON.stringify({ release: { tag: 'v7' }, ignored: { channel: 'nightly' } })
type Answer = { error?: string; ping?: boolean; isRepeat?: boolean; run?: { id: string; number: number; url: string } }
async function post(id: string, body: string | Buffer, headers: Record<string, string>, method = 'POST') {
  const response = await fetch(`http://127.0.0.1:${server.port}/api/triggers/${id}`, {
    method,
    headers,
    ...(method === 'POST' ? { body: body as never } : {}),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer }
}
const send = ({ trigger, secret }: Made, body = RELEASE, headers: Record<string, string> = {}, timestamp = now()) =>
  post(trigger.id, body, { ...signed(secret, body, timestamp), ...headers })
const runs = ({ tenant } = ours) => t.runtime.db.select().from(jobRuns).where(eq(jobRuns.tenantId, tenant.id))
const deliveries = ({ trigger }: Made) =>
  t.runtime.db.select().from(triggerDeliveries).where(eq(triggerDeliveries.triggerId, trigger.id)).orderBy(triggerDeliveries.id)

test('starts a run as the owner with fixed variables and the declared ones of the body', async () => {
  const made = await make()
  const answer = await send(made)
  const [run] = await runs()
  expect(answer).toMatchObject({
    status: 202,
    body: { isRepeat: false, run: { number: run!.number, url: `https://muster.test/runs/${run!.number}` } },
  })
  expect(run).toMatchObject({
    templateName: 'deploy',
    limit: 'gpu[001-002]',
    hostsTotal: 2,
    extraVars: { version: 'v7', channel: 'stable' },
    reason: `Trigger ${made.trigger.name}`,
    createdById: ours.operator.actor.id,
  })
  expect(await deliveries(made)).toMatchObject([{ outcome: 'STARTED', jobRunId: run!.id, address: '127.0.0.1', repeatCount: 0 }])
  const [entry] = await t.runtime.db
    .select()
    .from(auditEntries)
    .where(and(eq(auditEntries.action, 'trigger.fire'), eq(auditEntries.objectId, made.trigger.id)))
  expect(entry).toMatchObject({ actorKind: 'system', runId: run!.id, tenantId: ours.tenant.id })
})

describe('a repeated request starts nothing', () => {
  test.each(['muster', 'github'] as const)('with the signature %s, not even when sent 8 times at once', async (signature) => {
    const made = await make({ signature })
    const headers = signature === 'muster' ? signed(made.secret, RELEASE) : { 'x-hub-signature-256': sign(made.secret, RELEASE) }
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(made.trigger.id, RELEASE, headers)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 202])
    expect(new Set(answers.map(({ body }) => body.run!.number)).size).toBe(1)
    expect(await runs()).toHaveLength(1)
    expect(await deliveries(made)).toMatchObject([{ repeatCount: 7 }])
  })

  test('with a new signature and the same idempotency key', async () => {
    const made = await make()
    const first = await send(made, RELEASE, { 'idempotency-key': 'release-7' }, now() - 60)
    expect(await send(made, RELEASE, { 'idempotency-key': 'release-7' })).toMatchObject({
      status: 200,
      body: { run: first.body.run, isRepeat: true },
    })
    const other = RELEASE.replace('v7', 'v8')
    expect(await send(made, other, { 'idempotency-key': 'release-7' })).toMatchObject({ status: 409 })
    expect(await runs()).toHaveLength(1)
    // The same event later, on purpose.
    expect(await send(made, RELEASE, { 'idempotency-key': 'release-7 again' })).toMatchObject({ status: 202 })
  })

  test('that was recorded, with another idempotency key', async () => {
    const made = await make()
    const recorded = signed(made.secret, RELEASE)
    await post(made.trigger.id, RELEASE, { ...recorded, 'idempotency-key': 'a' })
    expect(await post(made.trigger.id, RELEASE, { ...recorded, 'idempotency-key': 'b' })).toMatchObject({ status: 200 })
    expect(await runs()).toHaveLength(1)
  })

  test('in the format of GitHub after any time, until the secret is rotated', async () => {
    const made = await make({ signature: 'github' })
    const headers = { 'x-hub-signature-256': sign(made.secret, RELEASE) }
    await post(made.trigger.id, RELEASE, headers)
    const { db } = t.runtime
    await db.update(triggers).set({ secretCreatedAt: sql`now() - interval '900 days'` })
    await db.update(triggerDeliveries).set({ createdAt: sql`now() - interval '800 days'` })
    await db.update(tenants).set({ runRetentionDays: 1 }).where(eq(tenants.id, ours.tenant.id))
    expect(await pruneTriggerDeliveries(t.runtime as never)).toBe(0)
    expect(await post(made.trigger.id, RELEASE, headers)).toMatchObject({ status: 200 })
    const { secret } = await rotateTriggerSecret(ours.operator, { id: made.trigger.id })
    expect(await post(made.trigger.id, RELEASE, headers)).toMatchObject({ status: 401 })
    expect(await pruneTriggerDeliveries(t.runtime as never)).toBe(1)
    expect(await post(made.trigger.id, RELEASE, { 'x-hub-signature-256': sign(secret, RELEASE) })).toMatchObject({ status: 202 })
  })
})

describe('rejects with one answer', () => {
  const wrong: [string, (made: Made) => Promise<unknown>][] = [
    ['a missing signature', ({ trigger }) => post(trigger.id, RELEASE, {})],
    ['a forged signature', ({ trigger }) => post(trigger.id, RELEASE, signed('mst_guess', RELEASE))],
    ['a changed body', ({ trigger, secret }) => post(trigger.id, RELEASE.replace('v7', 'v8'), signed(secret, RELEASE))],
    [
      'a changed timestamp',
      ({ trigger, secret }) =>
        post(trigger.id, RELEASE, { ...signed(secret, RELEASE, now() - 400), 'x-muster-timestamp': `${now()}` }),
    ],
    ['an old request', (made) => send(made, RELEASE, {}, now() - 310)],
    ['a request from the future', (made) => send(made, RELEASE, {}, now() + 310)],
    [
      'a signature without a time in the format of GitHub',
      ({ trigger, secret }) => post(trigger.id, RELEASE, { 'x-hub-signature-256': sign(secret, RELEASE) }),
    ],
    ['an unknown trigger', ({ secret }) => post(crypto.randomUUID(), RELEASE, signed(secret, RELEASE))],
    ['no ID', ({ secret }) => post('..%2f1', RELEASE, signed(secret, RELEASE))],
    [
      'the secret of another tenant',
      async ({ trigger }) => post(trigger.id, RELEASE, signed((await make({}, (await prepare()).operator)).secret, RELEASE)),
    ],
  ]
  test.each(wrong)('%s', async (_, call) => {
    const made = await make()
    expect(await call(made)).toMatchObject({ status: 401, body: { error: expect.stringContaining('No trigger accepts') } })
    expect(await runs()).toEqual([])
    expect(await deliveries(made)).toEqual([])
  })

  test('requests of a suspended tenant, and no others', async () => {
    const made = await make()
    const suspend = (suspendedAt: Date | null) =>
      t.runtime.db.update(tenants).set({ suspendedAt }).where(eq(tenants.id, ours.tenant.id))
    await suspend(new Date())
    expect(await send(made)).toMatchObject({ status: 401 })
    await suspend(null)
    expect(await send(made)).toMatchObject({ status: 202 })
  })
})

test('rejects large bodies, also without a length', async () => {
  const made = await make()
  const large = 'x'.repeat((1 << 20) + 1)
  expect(await send(made, large)).toMatchObject({ status: 413 })
  const status = await new Promise((resolve, reject) => {
    const req = request({ port: server.port, path: `/api/triggers/${made.trigger.id}`, method: 'POST' }, (res) => {
      res.resume()
      resolve(res.statusCode)
    })
    req.on('error', reject)
    // Chunked: the end is never sent.
    req.write(large)
  })
  expect(status).toBe(413)
  expect(await post(made.trigger.id, '', {}, 'GET')).toMatchObject({ status: 405 })
})

test('says what is wrong with the body of a signed request, and accepts a corrected one', async () => {
  const made = await make()
  const key = { 'idempotency-key': 'one event' }
  const cases: [body: string, error: string][] = [
    ['{', 'must be JSON'],
    ['{"release": {}}', '/release/tag: is missing'],
    ['{"release": {"tag": "7; reboot"}}', 'version'],
    ['[]', '/release/tag: is missing'],
    [JSON.stringify({ release: { tag: 'v'.repeat(20_000) } }), 'at most 16384'],
  ]
  for (const [body, error] of cases)
    expect(await send(made, body, key)).toMatchObject({ status: 422, body: { error: expect.stringContaining(error) } })
  expect(await runs()).toEqual([])
  expect(await deliveries(made)).toHaveLength(cases.length)
  expect(await send(made, RELEASE, key)).toMatchObject({ status: 202 })
})

test('takes nodes of the body only from its limit', async () => {
  const made = await make({ nodesPath: '/nodes' })
  const body = (nodes: unknown) => JSON.stringify({ release: { tag: 'v1' }, nodes })
  expect(await send(made, body(['gpu002', 'gpu003']))).toMatchObject({
    status: 422,
    body: { error: expect.stringContaining('does not permit: gpu003') },
  })
  const large = ['gpu[001-002]', 'n[1-999]']
  expect(await send(made, body(large))).toMatchObject({
    status: 422,
    body: { error: expect.stringContaining('at most 1000 node names') },
  })
  for (const wrong of ['all', '@everything', '!gpu001', [], 7, undefined])
    expect(await send(made, body(wrong))).toMatchObject({ status: 422 })
  expect(await send(made, body('gpu[001-001]'))).toMatchObject({ status: 202 })
  expect(await runs()).toMatchObject([{ hostsTotal: 1 }])
})

test('leaves out blocked nodes of its limit, and refuses those that a request names', async () => {
  const [all, named] = [await make(), await make({ nodesPath: '/nodes' })]
  await t.runtime.db
    .update(computeNodes)
    .set({ maintenanceAt: new Date(), maintenanceReason: 'repair' })
    .where(and(eq(computeNodes.tenantId, ours.tenant.id), eq(computeNodes.name, 'gpu002')))
  expect(await send(all)).toMatchObject({ status: 202 })
  expect(await runs()).toMatchObject([{ hostsTotal: 1 }])
  expect(await deliveries(all)).toMatchObject([{ outcome: 'STARTED', message: expect.stringMatching(/gpu002: in maintenance/) }])
  const body = JSON.stringify({ release: { tag: 'v1' }, nodes: ['gpu001', 'gpu002'] })
  expect(await send(named, body)).toMatchObject({ status: 422, body: { error: expect.stringMatching(/in maintenance/) } })
})

test('a slow trigger occupies one connection, and only some requests wait for it', async () => {
  const [slow, other] = [await make(), await make()]
  const { db } = t.runtime
  const waiting = async (pid: number) =>
    (await db.execute(sql`select 1 from pg_stat_activity where ${pid} = any(pg_blocking_pids(pid))`)).rowCount
  let answers: ReturnType<typeof send>[] = []
  await db.transaction(async (tx) => {
    await tx.select().from(triggers).where(eq(triggers.id, slow.trigger.id)).for('update')
    const { rows } = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`)
    answers = Array.from({ length: 10 }, (_, i) => send(slow, event(i)))
    // More than the trigger's places are refused while the others wait.
    const statuses: number[] = []
    for (const answer of answers) void answer.then(({ status }) => statuses.push(status))
    await expect.poll(() => statuses).toEqual([429, 429])
    await expect.poll(() => waiting(rows[0]!.pid)).toBe(1)
    expect(await send(other, event(1))).toMatchObject({ status: 202 })
  })
  expect((await Promise.all(answers)).map(({ status }) => status).sort()).toEqual([...Array(8).fill(202), 429, 429])
})

test('limits the requests in an hour, and not their repeats', async () => {
  const made = await make({ maxPerHour: 2 })
  const first = signed(made.secret, RELEASE)
  expect((await post(made.trigger.id, RELEASE, first)).status).toBe(202)
  expect((await send(made, event(1))).status).toBe(202)
  const limited = await send(made, event(2))
  expect(limited).toMatchObject({ status: 429, body: { error: expect.stringContaining('2 requests in an hour') } })
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(3500)
  expect((await post(made.trigger.id, RELEASE, first)).status).toBe(200)
  await t.runtime.db
    .update(triggerDeliveries)
    .set({ createdAt: sql`now() - interval '61 minutes'` })
    .where(eq(triggerDeliveries.triggerId, made.trigger.id))
  expect((await send(made, event(3))).status).toBe(202)
})

test('acts with the permissions that its owner has now', async () => {
  const made = await make()
  const [member] = await t.runtime.db
    .update(members)
    .set({ role: 'viewer' })
    .where(and(eq(members.tenantId, ours.tenant.id), eq(members.userId, ours.operator.actor.id!)))
    .returning()
  expect(await send(made)).toMatchObject({ status: 403 })
  await removeMember(ours.owner, { id: member!.id })
  expect(await send(made, event(1))).toMatchObject({ status: 403, body: { error: expect.stringContaining('who owns') } })
  await updateTrigger(ours.admin, { id: made.trigger.id, description: 'now mine' })
  expect(await send(made, event(2))).toMatchObject({ status: 202 })
  await updateTrigger(ours.owner, { id: made.trigger.id, isEnabled: false })
  expect(await send(made, event(3))).toMatchObject({ status: 409, body: { error: expect.stringContaining('disabled') } })
  const [row] = await t.runtime.db.select().from(triggers).where(eq(triggers.id, made.trigger.id))
  expect(row).toMatchObject({ ownerId: ours.admin.actor.id, isEnabled: false })
})

test('a rotation needs the permission to start the runs, and makes the caller the owner', async () => {
  const made = await make({}, ours.admin)
  const actor = ours.operator.actor as Extract<Ctx['actor'], { permissions: unknown }>
  const permissions = new Set([...actor.permissions].filter((name) => name !== 'job_run:start'))
  const limited: Ctx = { ...ours.operator, actor: { ...actor, permissions } as Ctx['actor'] }
  await expect(rotateTriggerSecret(limited, { id: made.trigger.id })).rejects.toThrow(/job_run:start/)
  expect(await send(made)).toMatchObject({ status: 202 })
  const rotated = await rotateTriggerSecret(ours.operator, { id: made.trigger.id })
  expect(rotated.trigger).toMatchObject({ ownerId: ours.operator.actor.id, ownerName: ours.operator.actor.name })
})

test("GitHub's ping starts nothing", async () => {
  const made = await make({ signature: 'github' })
  const headers = { 'x-hub-signature-256': sign(made.secret, RELEASE), 'x-github-event': 'ping' }
  expect(await post(made.trigger.id, RELEASE, headers)).toMatchObject({ status: 200, body: { ping: true } })
  expect(await runs()).toEqual([])
})

test('is checked when it is saved', async () => {
  const wrong: [Partial<Parameters<typeof createTrigger>[1]>, RegExp][] = [
    [{ template: 'missing' }, /no job template missing/],
    [{ limit: 'gpu999' }, /gpu999/],
    [{ variables: [{ name: 'channel', path: '/a', isRequired: false }] }, /channel is also a fixed variable/],
    [{ variables: [{ name: '__proto__', path: '/a', isRequired: false }] }, /names of Ansible variables/],
    [{ variables: [{ name: 'a', path: 'a.b', isRequired: false }] }, /JSON Pointer/],
    [{ nodesPath: 'nodes' }, /JSON Pointer/],
    [{ maxPerHour: 0 }, /maxPerHour/],
  ]
  for (const [fields, error] of wrong) await expect(make(fields)).rejects.toThrow(error)
  await expect(make({}, ours.viewer)).rejects.toThrow(/trigger:write/)
  const named = await make({ name: 'taken' })
  await expect(make({ name: 'taken' })).rejects.toThrow(/taken/)
  expect(JSON.stringify(named.trigger)).not.toContain(named.secret)
  const again = { name: 'once', idempotencyKey: 'once' }
  await make(again)
  await expect(make(again)).rejects.toThrow(/shown once/)
})
