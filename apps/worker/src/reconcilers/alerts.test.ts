import {
  alertDeliveries,
  alertRoutes,
  alerts,
  createAlertRoute,
  raiseAlerts,
  resolveAlerts,
  testAlertRoute,
} from '@muster/core/alerts'
import type { ComputeNode } from '@muster/core/nodes'
import { LOOPBACK, type TenantFixture, type TestRuntime, testRuntime } from '@muster/core/testing'
import { eq, sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createWebhookReceiver, VERIFIERS } from '../testing/alert-receivers.ts'
import { type AlertOptions, reconcileAlerts } from './alerts.ts'
import type { Reconciler } from './reconcile.ts'

const SECRET = 'a webhook secret'
const OPTIONS: AlertOptions = { link: 'https://muster.test/alerts', localTargets: LOOPBACK }

let t: TestRuntime
let tenantFixture: TenantFixture
let nodes: ComputeNode[]
const open: { stop(): Promise<void> }[] = []
beforeEach(async () => {
  t = await testRuntime()
  tenantFixture = await t.given.tenant()
  nodes = await t.given.fleet(tenantFixture.operator, { nodes: 30 })
})
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop()
  await t.close()
})

const receiver = async (reply: Parameters<typeof createWebhookReceiver>[0]) => {
  const created = await createWebhookReceiver(reply)
  open.push(created)
  return created
}
let count = 0
const route = (url: string) =>
  createAlertRoute(tenantFixture.admin, { name: `r${++count}`, kind: 'webhook', url, secret: SECRET, matcher: {} }, LOOPBACK)
const worker = (options: Partial<AlertOptions> = {}): Reconciler => {
  const reconciler = reconcileAlerts(t.runtime, `worker ${++count}`, { ...OPTIONS, ...options })
  open.push(reconciler)
  return reconciler
}
const raise = (of: ComputeNode[]) =>
  t.runtime.db.transaction((tx) =>
    raiseAlerts(
      tx,
      of.map(({ id, tenantId }) => ({ tenantId, nodeId: id, kind: 'offline' as const, evidence: {} })),
    ),
  )
const resolve = (of: ComputeNode[]) =>
  t.runtime.db.transaction((tx) =>
    resolveAlerts(
      tx,
      of.map(({ id, tenantId }) => ({ tenantId, nodeId: id, kinds: ['offline' as const] })),
    ),
  )
type Body = { id: string; event: string; alerts: { id: string }[] }
const bodies = (got: { body: string }[]): Body[] => got.map(({ body }) => JSON.parse(body))
const statuses = async (routeId: string) => {
  const rows = await t.runtime.db.select().from(alertDeliveries).where(eq(alertDeliveries.routeId, routeId))
  return rows.map(({ status }) => status)
}
const skipRetries = () => t.runtime.db.update(alertRoutes).set({ retryAt: null }).where(sql`retry_at is not null`)

it('delivers the opening and the resolution of an alert once each, signed, with several workers', async () => {
  const { url, got } = await receiver(VERIFIERS.webhook(SECRET))
  const { id } = await route(url)
  const workers = [worker(), worker(), worker()]
  const triggerAll = () => workers.forEach((one) => void one.trigger())
  const areDelivered = async () => {
    const [{ due }] = (await t.runtime.db
      .select({ due: sql<number>`count(*)::int` })
      .from(alerts)
      .where(sql`notify_at is not null`)) as [{ due: number }]
    return due === 0 && (await statuses(id)).every((status) => status === 'DELIVERED')
  }
  await raise(nodes)
  triggerAll()
  await expect.poll(areDelivered).toBe(true)
  await resolve(nodes)
  triggerAll()
  await expect.poll(areDelivered).toBe(true)
  await Promise.all(workers.map((one) => one.stop()))
  // Workers that plan concurrently may each create a message.
  const shown = bodies(got).flatMap(({ event, alerts }) => alerts.map((alert) => `${event} ${alert.id}`))
  expect(shown.map((one) => one.split(' ')[0])).toEqual([...Array(30).fill('OPENED'), ...Array(30).fill('RESOLVED')])
  expect(new Set(shown).size).toBe(60)
  expect(new Set(got.map(({ headers }) => headers['x-muster-delivery'])).size).toBe(got.length)
})

it('retries with the same ID until delivered, in order', async () => {
  const { url, got } = await receiver((one, n) => (n <= 2 ? { status: 503 } : VERIFIERS.webhook(SECRET)(one)))
  const { id } = await route(url)
  await raise(nodes.slice(0, 1))
  const one = worker()
  await expect.poll(() => got.length).toBe(1)
  await expect.poll(async () => (await t.runtime.db.select().from(alertRoutes))[0]!.lastError).toMatch(/responds with 503\.$/)
  await resolve(nodes.slice(0, 1))
  await expect
    .poll(async () => {
      await skipRetries()
      one.trigger()
      return statuses(id)
    })
    .toEqual(['DELIVERED', 'DELIVERED'])
  const shown = bodies(got)
  expect(shown.map(({ event }) => event)).toEqual(['OPENED', 'OPENED', 'OPENED', 'RESOLVED'])
  expect(new Set(shown.slice(0, 3).map((body) => body.id)).size).toBe(1)
})

it('a receiver that never responds does not delay others', async () => {
  const silent = await receiver(() => 'never')
  for (let i = 0; i < 3; i++) await route(silent.url)
  const good = await receiver(VERIFIERS.webhook(SECRET))
  await route(good.url)
  const one = worker({ timeoutMs: 600_000 })
  await raise(nodes.slice(0, 1))
  one.trigger()
  await expect.poll(() => [silent.got.length, good.got.length]).toEqual([3, 1])
  await resolve(nodes.slice(0, 1))
  one.trigger()
  await expect.poll(() => good.got.length).toBe(2)
  expect(silent.got.length).toBe(3)
})

it('another worker retries a message that was in progress when its worker stopped', async () => {
  const { url, got } = await receiver((one, n) => (n === 1 ? 'never' : VERIFIERS.webhook(SECRET)(one)))
  const { id } = await route(url)
  const first = worker({ timeoutMs: 600_000 })
  await raise(nodes.slice(0, 1))
  first.trigger()
  await expect.poll(() => got.length).toBe(1)
  await first.stop()
  expect(await t.runtime.db.select().from(alertRoutes)).toMatchObject([{ leasedUntil: null, lastError: 'The worker stopped.' }])
  await skipRetries()
  worker()
  await expect.poll(() => statuses(id)).toEqual(['DELIVERED'])
  const [lost, repeated] = bodies(got)
  expect(repeated).toEqual(lost)
})

it('sends a test message and records its outcome', async () => {
  const { url, got } = await receiver((one, n) => (n === 1 ? { status: 404 } : VERIFIERS.webhook(SECRET)(one)))
  const created = await route(url)
  const one = worker()
  const sent = async () => {
    const { id } = await testAlertRoute(tenantFixture.admin, { id: created.id })
    one.trigger()
    const delivery = async () => (await t.runtime.db.select().from(alertDeliveries).where(eq(alertDeliveries.id, id)))[0]!
    await expect.poll(async () => (await delivery()).status).not.toBe('PENDING')
    return delivery()
  }
  expect(await sent()).toMatchObject({ status: 'FAILED', lastError: expect.stringMatching(/responds with 404/) })
  expect(await sent()).toMatchObject({ status: 'DELIVERED', lastError: null })
  expect(bodies(got).map(({ event }) => event)).toEqual(['TEST', 'TEST'])
})

it('delivers alerts raised during deliveries exactly once', async () => {
  const { url, got } = await receiver(VERIFIERS.webhook(SECRET))
  await route(url)
  const workers = [worker(), worker()]
  await Promise.all(
    nodes.map(async (node) => {
      await raise([node])
      for (const one of workers) one.trigger()
    }),
  )
  const shown = () => bodies(got).flatMap((body) => body.alerts.map((alert) => alert.id))
  await expect.poll(() => shown().length).toBeGreaterThanOrEqual(30)
  await Promise.all(workers.map((one) => one.stop()))
  expect([shown().length, new Set(shown()).size]).toEqual([30, 30])
})
