import { and, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { agents } from '../agents/tables.ts'
import { decryptRouteSecrets } from '../credentials/decrypt-target-secrets.ts'
import { credentialKey, openVault, reencryptCredentials } from '../credentials/index.ts'
import { createNodeGroup, deleteNodeGroup } from '../groups/index.ts'
import type { Ctx } from '../kernel/context.ts'
import { outboundSettings } from '../kernel/outbound/index.ts'
import type { ComputeNode } from '../nodes/tables.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { fastDeriveKey, TEST_MASTER_PASSWORD } from '../testing/master-password.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { claimAlertDelivery } from './claim-alert-delivery.ts'
import { createAlertRoute } from './create-alert-route.ts'
import { createAlertSilence } from './create-alert-silence.ts'
import { deleteAlertRoute } from './delete-alert-route.ts'
import { endAlertSilence } from './end-alert-silence.ts'
import { finishAlertDelivery, retryMs } from './finish-alert-delivery.ts'
import type { AlertKind } from './kinds.ts'
import { planAlertDeliveries } from './plan-alert-deliveries.ts'
import { pruneAlerts } from './prune-alerts.ts'
import { raiseAlerts } from './raise-alerts.ts'
import { resolveAlerts } from './resolve-alerts.ts'
import { silencesOfAlerts } from './silences-of-alerts.ts'
import { type AlertMatcher, alertDeliveries, alertRoutes, alertSilences, alerts } from './tables.ts'
import { testAlertRoute } from './test-alert-route.ts'
import { updateAlertRoute } from './update-alert-route.ts'

let t: TestRuntime
let fixture: TenantFixture
let nodes: ComputeNode[]
let ctx: Ctx
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())
beforeEach(async () => {
  // Removes pending messages of other tests.
  await t.runtime.db.delete(alertRoutes)
  fixture = await t.given.tenant()
  ctx = fixture.worker
  nodes = await t.given.fleet(fixture.operator, { nodes: 3, prefix: 'gpu', with: (i) => ({ tags: i === 0 ? ['prod'] : [] }) })
})

const HOOK = { kind: 'webhook' as const, url: 'https://hooks.test/path?token=hidden', secret: 'a webhook secret' }
/** Later than the end of any test. */
const LATER = { retryAfterMs: 3_600_000 }
let count = 0
const route = (fields: Partial<Parameters<typeof createAlertRoute>[1]> = {}) =>
  createAlertRoute(fixture.admin, { name: `route ${++count}`, ...HOOK, matcher: {}, ...fields })
const raise = (kind: AlertKind, ...of: ComputeNode[]) =>
  t.runtime.db.transaction((tx) =>
    raiseAlerts(
      tx,
      of.map(({ id }) => ({ tenantId: ctx.tenantId, nodeId: id, kind, evidence: {} })),
    ),
  )
const resolve = (kind: AlertKind, ...of: ComputeNode[]) =>
  t.runtime.db.transaction((tx) =>
    resolveAlerts(
      tx,
      of.map(({ id }) => ({ tenantId: ctx.tenantId, nodeId: id, kinds: [kind] })),
    ),
  )
const plan = () => planAlertDeliveries(t.runtime)
/** Messages of a route, such as `opened, gpu001 offline`. */
async function messagesOf(routeId: string): Promise<string[]> {
  const rows = await t.runtime.db
    .select()
    .from(alertDeliveries)
    .where(eq(alertDeliveries.routeId, routeId))
    .orderBy(alertDeliveries.id)
  return rows.map(({ event, alerts }) => [event, ...alerts.map(({ node, kind }) => `${node ?? '-'} ${kind}`).sort()].join(', '))
}

test('a route encrypts its address and secret, and only a worker decrypts them', async () => {
  const created = await route()
  expect(created.settings).toEqual({ origin: 'https://hooks.test' })
  expect(JSON.stringify(created)).not.toMatch(/hidden|webhook secret/)
  expect(await decryptRouteSecrets(ctx, created)).toEqual({ url: HOOK.url, secret: HOOK.secret })
  await expect(decryptRouteSecrets(fixture.owner, created)).rejects.toThrow('Only a worker')
  await expect(createAlertRoute(fixture.operator, { name: 'x', ...HOOK })).rejects.toThrow('alert_route:write')
  await expect(route({ name: created.name })).rejects.toThrow('There is already a route named')
})

test('a key rotation re-encrypts routes', async () => {
  const created = await route()
  const vault = await openVault(t.runtime.db, TEST_MASTER_PASSWORD, 2, fastDeriveKey)
  expect((await credentialKey({ ...fixture.admin, vault })).left).toBe(1)
  await reencryptCredentials({ ...t.runtime, vault, actor: ctx.actor })
  const [now] = await t.runtime.db.select().from(alertRoutes).where(eq(alertRoutes.id, created.id))
  expect(Object.values(now!.encrypted).map((record) => Buffer.from(record, 'base64')[0])).toEqual([2, 2])
  expect(await decryptRouteSecrets({ ...ctx, vault }, now!)).toEqual({ url: HOOK.url, secret: HOOK.secret })
  t.runtime.vault = vault
})

const MAIL = {
  kind: 'email' as const,
  host: 'mail.test',
  from: 'muster@site.test',
  to: ['ops@site.test'],
  url: null,
  secret: null,
}
test.each([
  ['a webhook without a secret', { secret: null }, /secret: is required for webhook/],
  ['a webhook with a mail host', { host: 'mail.test' }, /host: is not used by webhook/],
  ['slack with a secret', { kind: 'slack' as const }, /secret: is not used by slack/],
  ['an address with a password', { url: 'https://me:word@hooks.test/' }, /url: must look like/],
  ['another scheme', { url: 'file:///etc/passwd' }, /url: must look like/],
  ['mail to nobody', { ...MAIL, to: [] }, /to: is required for email/],
  ['mail with a line end in an address', { ...MAIL, to: ['a@b.test\nBcc: c@d.test'] }, /to.0/],
  ['a user without a password', { ...MAIL, username: 'u' }, /secret: is the password for the username/],
  ['a password in the clear', { ...MAIL, username: 'u', secret: 'password', security: 'none' as const }, /security: must be tls/],
  ['a query that cannot be read', { matcher: { query: 'tagg = a' } }, /matcher.query: .*unknown field/],
  ['a kind that there is not', { matcher: { kinds: ['gone' as AlertKind] } }, /matcher.kinds.0/],
])('rejects %s', async (_what, fields, message) => {
  await expect(route(fields)).rejects.toThrow(message)
})

test('a mail route with another server requires a new password', async () => {
  const created = await route({ ...MAIL, username: 'u', secret: 'password' })
  expect(created.settings).toMatchObject({ host: 'mail.test', port: 587, security: 'starttls' })
  await expect(updateAlertRoute(fixture.admin, { id: created.id, host: 'evil.test' })).rejects.toThrow(
    /secret: is required again/,
  )
  for (const change of [{ port: 2525 }, { security: 'tls' as const }])
    await expect(updateAlertRoute(fixture.admin, { id: created.id, ...change })).rejects.toThrow(/secret: is required again/)
  const moved = await updateAlertRoute(fixture.admin, {
    id: created.id,
    host: 'other.test',
    secret: 'password',
    to: ['b@site.test'],
  })
  expect(moved.settings).toMatchObject({ host: 'other.test', username: 'u', to: ['b@site.test'] })
  const open = await updateAlertRoute(fixture.admin, { id: created.id, username: null, secret: null })
  expect([open.settings.username, open.encrypted]).toEqual([undefined, {}])
})

test('the verbs of routes and silences check roles and tenants', async () => {
  const stranger = await t.given.tenant()
  const { id } = await route()
  const silence = await createAlertSilence(fixture.operator, {
    matcher: {},
    reason: 'r',
    endsAt: new Date(Date.now() + 3_600_000),
  })
  for (const verb of [testAlertRoute, deleteAlertRoute, updateAlertRoute]) {
    await expect(verb(fixture.operator, { id })).rejects.toThrow('alert_route:write')
    await expect(verb(stranger.owner, { id })).rejects.toThrow(`There is no route ${id}.`)
  }
  await expect(endAlertSilence(fixture.viewer, { id: silence.id })).rejects.toThrow('alert:write')
  await expect(endAlertSilence(stranger.owner, { id: silence.id })).rejects.toThrow('There is no silence')
  await endAlertSilence(fixture.operator, { id: silence.id })
  await expect(endAlertSilence(fixture.operator, { id: silence.id })).rejects.toThrow('The silence ended on')
  expect(await deleteAlertRoute(fixture.admin, { id })).toEqual({ id })
})

test('sends the opening and the resolution of an alert once to each matching route', async () => {
  await createNodeGroup(fixture.operator, { name: 'front', memberQuery: 'tag = prod' })
  await t.runtime.db
    .insert(agents)
    .values(
      nodes.map(({ id, name, tenantId }, i) => ({ nodeId: id, tenantId, agentId: name, cluster: i === 2 ? 'blue' : 'red' })),
    )
  const matchers: Record<string, AlertMatcher> = {
    all: {},
    kind: { kinds: ['stale'] },
    severity: { severities: ['critical'] },
    tag: { query: 'tag = prod' },
    group: { query: 'not group = front' },
    cluster: { clusters: ['blue'] },
    both: { query: 'tag = prod', kinds: ['offline'] },
  }
  const routes = Object.fromEntries(
    await Promise.all(Object.entries(matchers).map(async ([name, matcher]) => [name, (await route({ matcher })).id] as const)),
  )
  const quiet = await route({ notifyOnResolve: false })
  const off = await route({ isEnabled: false })
  await raise('stale', nodes[0]!, nodes[2]!)
  await raise('offline', nodes[1]!)
  expect(await plan()).toBe(3)
  expect(await plan()).toBe(0)
  const beginnings = Object.fromEntries(
    await Promise.all(Object.entries(routes).map(async ([name, id]) => [name, await messagesOf(id)])),
  )
  expect(beginnings).toEqual({
    all: ['opened, gpu001 stale, gpu002 offline, gpu003 stale'],
    kind: ['opened, gpu001 stale, gpu003 stale'],
    severity: ['opened, gpu002 offline'],
    tag: ['opened, gpu001 stale'],
    group: ['opened, gpu002 offline, gpu003 stale'],
    cluster: ['opened, gpu003 stale'],
    both: [],
  })
  await resolve('stale', nodes[0]!, nodes[2]!)
  await plan()
  expect(await messagesOf(routes.tag!)).toEqual(['opened, gpu001 stale', 'resolved, gpu001 stale'])
  expect(await messagesOf(quiet.id)).toEqual(beginnings.all)
  expect(await messagesOf(off.id)).toEqual([])
})

test('an alert without a node matches every route of its cluster, and no silence with a node query', async () => {
  const everyNode = await route({ matcher: { query: 'tag = prod' } })
  const red = await route({ matcher: { clusters: ['red'] } })
  const blue = await route({ matcher: { clusters: ['blue'] } })
  await createAlertSilence(fixture.operator, {
    matcher: { query: 'tag != none' },
    reason: 'r',
    endsAt: new Date(Date.now() + 3_600_000),
  })
  const silent = { tenantId: ctx.tenantId, nodeId: null, kind: 'mass_outage' as const, evidence: {} }
  await t.runtime.db.transaction((tx) => raiseAlerts(tx, [silent, { ...silent, cluster: 'red' }]))
  await plan()
  const both = 'opened, - mass_outage, - mass_outage'
  expect([await messagesOf(everyNode.id), await messagesOf(red.id), await messagesOf(blue.id)]).toEqual([
    [both],
    [both],
    ['opened, - mass_outage'],
  ])
})

test('with a deleted group, a route matches every alert and a silence none', async () => {
  const group = await createNodeGroup(fixture.operator, { name: 'gone', memberQuery: 'tag = none' })
  const created = await route({ matcher: { query: 'group = gone' } })
  await createAlertSilence(fixture.operator, {
    matcher: { query: 'group != gone' },
    reason: 'r',
    endsAt: new Date(Date.now() + 3_600_000),
  })
  await deleteNodeGroup(fixture.operator, { id: group.id })
  await raise('offline', nodes[0]!)
  await plan()
  expect(await messagesOf(created.id)).toEqual(['opened, gpu001 offline'])
})

test('a tenant with an invalid matcher does not delay other tenants', async () => {
  const created = await route()
  const other = await t.given.tenant()
  const [node] = await t.given.fleet(other.operator, { nodes: 1 })
  await createAlertRoute(other.admin, { name: 'r', ...HOOK, matcher: { query: 'tag = prod' } })
  // No verb writes such a matcher.
  const broken = { query: 5 } as unknown as AlertMatcher
  await t.runtime.db.update(alertRoutes).set({ matcher: broken }).where(eq(alertRoutes.tenantId, other.tenant.id))
  const theirs = { tenantId: other.tenant.id, nodeId: node!.id, kind: 'offline' as const, evidence: {} }
  await t.runtime.db.transaction((tx) => raiseAlerts(tx, [theirs]))
  await raise('offline', nodes[0]!)
  await plan()
  expect(await messagesOf(created.id)).toEqual(['opened, gpu001 offline'])
  await t.runtime.db.delete(alerts).where(eq(alerts.tenantId, other.tenant.id))
})

test('does not send alerts that resolved before planning, and sends flapping alerts again after five minutes', async () => {
  const created = await route()
  await raise('offline', nodes[0]!)
  await resolve('offline', nodes[0]!)
  await plan()
  expect(await messagesOf(created.id)).toEqual([])
  await raise('offline', nodes[0]!)
  await plan()
  await resolve('offline', nodes[0]!)
  await plan()
  await raise('offline', nodes[0]!)
  await plan()
  expect(await messagesOf(created.id)).toEqual(['opened, gpu001 offline', 'resolved, gpu001 offline'])
  await t.runtime.db.execute(sql`update ${alerts} set notify_at = notify_at - interval '5 minutes' where notify_at is not null`)
  await plan()
  expect((await messagesOf(created.id)).at(-1)).toBe('opened, gpu001 offline')
})

test('resolves events after five minutes without a recurrence, without a message', async () => {
  const created = await route()
  await raise('sequence_gap', nodes[0]!)
  await plan()
  const state = async () => (await t.runtime.db.select().from(alerts).where(eq(alerts.nodeId, nodes[0]!.id)))[0]!.resolvedAt
  expect(await state()).toBeNull()
  await t.runtime.db.execute(sql`update ${alerts} set last_at = last_at - interval '5 minutes 1 second'`)
  await plan()
  expect(await state()).not.toBeNull()
  expect(await messagesOf(created.id)).toEqual(['opened, gpu001 sequence_gap'])
})

test('a silence delays matching alerts until it ends; alerts that resolve meanwhile are never sent', async () => {
  const created = await route()
  const endsAt = new Date(Date.now() + 3_600_000)
  const silence = await createAlertSilence(fixture.operator, {
    matcher: { query: 'tag = prod' },
    reason: 'moving rack 4',
    endsAt,
  })
  await raise('offline', ...nodes)
  await plan()
  expect(await messagesOf(created.id)).toEqual(['opened, gpu002 offline, gpu003 offline'])
  const rows = await t.runtime.db.select().from(alerts).where(eq(alerts.tenantId, ctx.tenantId))
  const silenced = await silencesOfAlerts(
    t.runtime.db,
    fixture.viewer,
    rows.map(({ id }) => id),
  )
  expect([...silenced.entries()]).toEqual([[rows.find(({ nodeId }) => nodeId === nodes[0]!.id)!.id, silence]])
  await endAlertSilence(fixture.operator, { id: silence.id })
  await plan()
  expect((await messagesOf(created.id)).join()).toContain('gpu001 offline')
  // The resolution of a notified alert is sent despite the silence.
  await createAlertSilence(fixture.operator, { matcher: {}, reason: 'all', endsAt })
  await resolve('offline', nodes[1]!)
  await plan()
  expect((await messagesOf(created.id)).at(-1)).toBe('resolved, gpu002 offline')
})

test('a silence ends at its end time', async () => {
  const created = await route()
  await createAlertSilence(fixture.operator, { matcher: {}, reason: 'r', endsAt: new Date(Date.now() + 3_600_000) })
  await raise('offline', nodes[0]!, nodes[1]!)
  await plan()
  await resolve('offline', nodes[1]!)
  await t.runtime.db.update(alertSilences).set({ endsAt: sql`now()` })
  await t.runtime.db.update(alerts).set({ notifyAt: sql`now()` }).where(sql`notify_at is not null`)
  await plan()
  expect(await messagesOf(created.id)).toEqual(['opened, gpu001 offline'])
})

test.each([
  [
    'an end in the past',
    { endsAt: new Date(Date.now() - 1000), startsAt: new Date(Date.now() - 2000) },
    /endsAt: must be in the future/,
  ],
  ['an end before its start', { startsAt: new Date(Date.now() + 9e6) }, /endsAt: must be later/],
  ['no reason', { reason: '  ' }, /reason: must not be empty/],
  ['an end after more than a year', { endsAt: new Date(Date.now() + 400 * 86_400_000) }, /endsAt: must be at most 366 days/],
])('rejects a silence with %s', async (_what, fields, message) => {
  const input = { matcher: {}, reason: 'r', endsAt: new Date(Date.now() + 3_600_000), ...fields }
  await expect(createAlertSilence(fixture.operator, input)).rejects.toThrow(message)
})

test('one worker at a time sends messages of a route; new alerts join a pending message', async () => {
  const created = await route()
  await raise('offline', nodes[0]!)
  await plan()
  const claimed = await claimAlertDelivery(t.runtime)
  expect(claimed).toMatchObject({ route: { id: created.id }, delivery: { attempts: 1 }, tenantName: fixture.tenant.name })
  expect(await claimAlertDelivery(t.runtime)).toBeNull()
  await raise('offline', nodes[1]!)
  await plan()
  await raise('offline', nodes[2]!)
  await plan()
  expect(await messagesOf(created.id)).toEqual(['opened, gpu001 offline', 'opened, gpu002 offline, gpu003 offline'])
  await finishAlertDelivery(ctx, claimed!, null)
  const next = await claimAlertDelivery(t.runtime)
  expect(next!.delivery.alerts).toHaveLength(2)
  await expect(finishAlertDelivery(fixture.owner, next!, null)).rejects.toThrow('Only Muster itself')
})

test('concurrent claims return different routes', async () => {
  const created = await Promise.all(Array.from({ length: 5 }, () => route()))
  await raise('offline', nodes[0]!)
  await plan()
  const claimed = await Promise.all(Array.from({ length: 12 }, () => claimAlertDelivery(t.runtime)))
  const got = claimed.flatMap((one) => one?.route.id ?? [])
  for (;;) {
    // A claim skips rows that another claim has locked; the next attempt finds them.
    const one = await claimAlertDelivery(t.runtime)
    if (!one) break
    got.push(one.route.id)
  }
  expect(got.sort()).toEqual(created.map(({ id }) => id).sort())
})

test('a message of a lost worker is sent again with the same id, and its late outcome is ignored', async () => {
  await route()
  await raise('offline', nodes[0]!)
  await plan()
  const lost = await claimAlertDelivery(t.runtime)
  await t.runtime.db.update(alertRoutes).set({ leasedUntil: sql`now()` })
  const again = await claimAlertDelivery(t.runtime)
  expect(again!.delivery).toMatchObject({ id: lost!.delivery.id, attempts: 2 })
  await finishAlertDelivery(ctx, lost!, { error: 'late' })
  expect(await t.runtime.db.select().from(alertRoutes)).toMatchObject([{ leaseToken: again!.leaseToken, failingSince: null }])
  await finishAlertDelivery(ctx, again!, null)
  expect(await t.runtime.db.select().from(alertRoutes)).toMatchObject([{ leaseToken: null, leasedUntil: null }])
})

test('retries a failing route with increasing delays and in order, without delaying others', async () => {
  const bad = await route()
  await raise('offline', nodes[0]!)
  await plan()
  const claimed = await claimAlertDelivery(t.runtime)
  await finishAlertDelivery(ctx, claimed!, { error: 'It refuses connections.', ...LATER })
  const good = await route()
  await raise('offline', nodes[1]!)
  await plan()
  expect((await claimAlertDelivery(t.runtime))!.route.id).toBe(good.id)
  expect(await claimAlertDelivery(t.runtime)).toBeNull()
  const state = async () => (await t.runtime.db.select().from(alertRoutes).where(eq(alertRoutes.id, bad.id)))[0]!
  expect(await state()).toMatchObject({
    lastError: 'It refuses connections.',
    failingSince: expect.any(Date),
    retryAt: expect.any(Date),
  })
  // Saving the route triggers a retry.
  await updateAlertRoute(fixture.admin, { id: bad.id, name: bad.name })
  const again = await claimAlertDelivery(t.runtime)
  expect(again!.delivery).toMatchObject({ id: claimed!.delivery.id, attempts: 2 })
  await finishAlertDelivery(ctx, again!, null)
  expect(await state()).toMatchObject({ lastError: null, failingSince: null })
  expect([1, 2, 3, 9, 500].map((attempts) => retryMs(attempts, 0.5))).toEqual([5000, 15_000, 45_000, 1_800_000, 1_800_000])
})

test('gives up after a day, or after three permanent rejections', async () => {
  const created = await route()
  const status = async () =>
    (await t.runtime.db.select().from(alertDeliveries).where(eq(alertDeliveries.routeId, created.id)))[0]!.status
  const attempt = async (isFinal: boolean) => {
    await t.runtime.db.update(alertRoutes).set({ retryAt: null })
    await finishAlertDelivery(ctx, (await claimAlertDelivery(t.runtime))!, { error: 'no', isFinal })
    return status()
  }
  await raise('offline', nodes[0]!)
  await plan()
  expect([await attempt(true), await attempt(true), await attempt(true)]).toEqual(['PENDING', 'PENDING', 'FAILED'])
  await t.runtime.db.delete(alertDeliveries)
  await raise('stale', nodes[0]!)
  await plan()
  for (let i = 0; i < 4; i++) expect(await attempt(false)).toBe('PENDING')
  await t.runtime.db.update(alertDeliveries).set({ createdAt: sql`now() - interval '24 hours 1 second'` })
  expect(await attempt(false)).toBe('FAILED')
})

test('a test message is sent first and once, also on a failing or disabled route', async () => {
  const created = await route()
  await raise('offline', nodes[0]!)
  await plan()
  await finishAlertDelivery(ctx, (await claimAlertDelivery(t.runtime))!, { error: 'no', ...LATER })
  const state = async () => (await t.runtime.db.select().from(alertRoutes).where(eq(alertRoutes.id, created.id)))[0]!
  const { retryAt } = await state()
  const failed = await testAlertRoute(fixture.admin, { id: created.id })
  const claimed = await claimAlertDelivery(t.runtime)
  expect(claimed!.delivery).toMatchObject({ id: failed.id, event: 'test', alerts: [] })
  await finishAlertDelivery(ctx, claimed!, { error: 'still no' })
  const [after] = await t.runtime.db.select().from(alertDeliveries).where(eq(alertDeliveries.id, failed.id))
  expect(after).toMatchObject({ status: 'FAILED', lastError: 'still no', attempts: 1 })
  expect(await claimAlertDelivery(t.runtime)).toBeNull()
  expect(await state()).toMatchObject({ retryAt, lastError: 'no' })
  await updateAlertRoute(fixture.admin, { id: created.id, name: created.name })
  const next = await testAlertRoute(fixture.admin, { id: created.id })
  const first = await claimAlertDelivery(t.runtime)
  expect(first!.delivery.id).toBe(next.id)
  await finishAlertDelivery(ctx, first!, null)
  await updateAlertRoute(fixture.admin, { id: created.id, isEnabled: false })
  const rows = await t.runtime.db
    .select()
    .from(alertDeliveries)
    .where(and(eq(alertDeliveries.routeId, created.id), eq(alertDeliveries.event, 'opened')))
  expect(rows).toMatchObject([{ status: 'FAILED', lastError: 'The route was switched off.' }])
  await testAlertRoute(fixture.admin, { id: created.id })
  await finishAlertDelivery(ctx, (await claimAlertDelivery(t.runtime))!, null)
})

test('puts at most 500 alerts into a message', async () => {
  const created = await route()
  const many = await t.given.fleet(fixture.operator, { nodes: 1100, prefix: 'many' })
  await raise('offline', ...many)
  await plan()
  expect((await messagesOf(created.id)).map((message) => message.split(', ').length - 1)).toEqual([500, 500, 100])
})

test('prunes old alerts, deliveries and silences', async () => {
  const created = await route()
  await raise('offline', nodes[0]!, nodes[1]!)
  await plan()
  await resolve('offline', nodes[1]!)
  await plan()
  expect(await pruneAlerts(t.runtime)).toBe(0)
  const age = (days: number) =>
    sql`overlay(id::text placing '${sql.raw((Date.now() - days * 86_400_000).toString(16).padStart(12, '0').slice(0, 8))}' from 1 for 8)::uuid`
  await t.runtime.db.execute(
    sql`update ${alerts} set id = ${age(91)} where tenant_id = ${ctx.tenantId} and resolved_at is not null`,
  )
  await t.runtime.db.execute(
    sql`update ${alertDeliveries} set id = ${age(31)} where route_id = ${created.id} and event = 'opened'`,
  )
  expect(await pruneAlerts(t.runtime)).toBe(2)
  expect(await messagesOf(created.id)).toHaveLength(1)
})

const LOCAL = outboundSettings.LOCAL_TARGETS.parse('127.0.0.0/8,::1,169.254.0.0/16')

test.each([
  ['webhook', 'url', { ...HOOK, url: 'http://127.0.0.1:8080/hook' }],
  ['slack', 'url', { kind: 'slack' as const, url: 'http://169.254.169.254/latest/meta-data' }],
  ['slack', 'url', { kind: 'slack' as const, url: 'http://[::ffff:127.0.0.1]/' }],
  ['slack', 'url', { kind: 'slack' as const, url: 'http://2130706433/' }],
  ['email', 'host', { kind: 'email' as const, host: 'localhost', security: 'none' as const, from: 'a@b.test', to: ['c@d.test'] }],
])('rejects a local target of a %s route on save, unless the installation lists it', async (_kind, path, fields) => {
  const name = `local ${++count}`
  const message = expect.stringContaining("the worker's own machine, its link, or a metadata service")
  await expect(createAlertRoute(fixture.admin, { name, ...fields })).rejects.toMatchObject({ issues: [{ path, message }] })
  const { id } = await createAlertRoute(fixture.admin, { name, ...fields }, LOCAL)
  const target = 'url' in fields ? { url: fields.url } : { host: fields.host }
  await expect(updateAlertRoute(fixture.admin, { id, ...target })).rejects.toMatchObject({ issues: [{ path, message }] })
  await updateAlertRoute(fixture.admin, { id, isEnabled: false })
})
