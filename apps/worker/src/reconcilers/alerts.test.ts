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
import { type Cast, eventually, type TestRuntime, testRuntime } from '@muster/core/testing'
import { eq, sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CHECKS, hookReceiver } from '../testing/alert-receivers.ts'
import { type AlertOptions, reconcileAlerts } from './alerts.ts'
import type { Reconciler } from './reconcile.ts'

const SECRET = 'a secret of mine'
const OPTIONS: AlertOptions = { link: 'https://muster.test/alerts', allowLocal: true }

let t: TestRuntime
let cast: Cast
let nodes: ComputeNode[]
const open: { stop(): Promise<void> }[] = []
beforeEach(async () => {
  t = await testRuntime()
  cast = await t.given.tenant()
  nodes = await t.given.fleet(cast.operator, { nodes: 30 })
})
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop()
  await t.close()
})

const receiver = async (reply: Parameters<typeof hookReceiver>[0]) => {
  const made = await hookReceiver(reply)
  open.push(made)
  return made
}
/** Of a machine that is busy with much else. */
let count = 0
const route = (url: string) =>
  createAlertRoute(cast.admin, { name: `r${++count}`, kind: 'webhook', url, secret: SECRET, matcher: {} })
const worker = (options: Partial<AlertOptions> = {}): Reconciler => {
  const made = reconcileAlerts(t.runtime, `worker ${++count}`, { ...OPTIONS, ...options })
  open.push(made)
  return made
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
const hurry = () => t.runtime.db.update(alertRoutes).set({ retryAt: null }).where(sql`retry_at is not null`)

it('tells the beginning and the end of an alert, signed, once each, whoever of several workers is first', async () => {
  const { url, got } = await receiver(CHECKS.webhook(SECRET))
  const { id } = await route(url)
  const workers = [worker(), worker(), worker()]
  const nudge = () => workers.forEach((one) => void one.nudge())
  const areDelivered = async () => {
    const [{ due }] = (await t.runtime.db
      .select({ due: sql<number>`count(*)::int` })
      .from(alerts)
      .where(sql`announce_at is not null`)) as [{ due: number }]
    return due === 0 && (await statuses(id)).every((status) => status === 'DELIVERED')
  }
  await raise(nodes)
  nudge()
  await eventually(areDelivered)
  await resolve(nodes)
  nudge()
  await eventually(areDelivered)
  await Promise.all(workers.map((one) => one.stop()))
  // Workers that plan at the same moment may make a message each.
  const told = bodies(got).flatMap(({ event, alerts }) => alerts.map((alert) => `${event} ${alert.id}`))
  expect(told.map((one) => one.split(' ')[0])).toEqual([...Array(30).fill('opened'), ...Array(30).fill('resolved')])
  expect(new Set(told).size).toBe(60)
  expect(new Set(got.map(({ headers }) => headers['x-muster-delivery'])).size).toBe(got.length)
})

it('tries again with the same id until it is taken, and keeps the order', async () => {
  const { url, got } = await receiver((one, n) => (n <= 2 ? { status: 503 } : CHECKS.webhook(SECRET)(one)))
  const { id } = await route(url)
  await raise(nodes.slice(0, 1))
  const one = worker()
  await eventually(() => got.length === 1)
  await eventually(async () => (await t.runtime.db.select().from(alertRoutes))[0]!.lastError?.endsWith('answers with 503.'))
  await resolve(nodes.slice(0, 1))
  await eventually(async () => {
    await hurry()
    one.nudge()
    return (await statuses(id)).join() === 'DELIVERED,DELIVERED'
  })
  const told = bodies(got)
  expect(told.map(({ event }) => event)).toEqual(['opened', 'opened', 'opened', 'resolved'])
  expect(new Set(told.slice(0, 3).map((body) => body.id)).size).toBe(1)
})

it('a receiver that keeps silent keeps no other waiting', async () => {
  const silent = await receiver(() => 'never')
  for (let i = 0; i < 3; i++) await route(silent.url)
  const good = await receiver(CHECKS.webhook(SECRET))
  await route(good.url)
  const one = worker({ timeoutMs: 600_000 })
  await raise(nodes.slice(0, 1))
  one.nudge()
  await eventually(() => silent.got.length === 3 && good.got.length === 1)
  await resolve(nodes.slice(0, 1))
  one.nudge()
  await eventually(() => good.got.length === 2)
  expect(silent.got.length).toBe(3)
})

it('a message that was under way when the worker stopped is tried again by another', async () => {
  const { url, got } = await receiver((one, n) => (n === 1 ? 'never' : CHECKS.webhook(SECRET)(one)))
  const { id } = await route(url)
  const first = worker({ timeoutMs: 600_000 })
  await raise(nodes.slice(0, 1))
  first.nudge()
  await eventually(() => got.length === 1)
  await first.stop()
  expect(await t.runtime.db.select().from(alertRoutes)).toMatchObject([{ leasedUntil: null, lastError: 'The worker stopped.' }])
  await hurry()
  worker()
  await eventually(async () => (await statuses(id)).join() === 'DELIVERED')
  const [lost, again] = bodies(got)
  expect(again).toEqual(lost)
})

it('sends a test, and says how it went', async () => {
  const { url, got } = await receiver((one, n) => (n === 1 ? { status: 404 } : CHECKS.webhook(SECRET)(one)))
  const made = await route(url)
  const one = worker()
  const sent = async () => {
    const { id } = await testAlertRoute(cast.admin, { id: made.id })
    one.nudge()
    return eventually(async () => {
      const [delivery] = await t.runtime.db.select().from(alertDeliveries).where(eq(alertDeliveries.id, id))
      return delivery!.status === 'PENDING' ? undefined : delivery
    })
  }
  expect(await sent()).toMatchObject({ status: 'FAILED', lastError: expect.stringMatching(/answers with 404/) })
  expect(await sent()).toMatchObject({ status: 'DELIVERED', lastError: null })
  expect(bodies(got).map(({ event }) => event)).toEqual(['test', 'test'])
})

it('loses nothing that is raised while messages go out, and tells nothing twice', async () => {
  const { url, got } = await receiver(CHECKS.webhook(SECRET))
  await route(url)
  const workers = [worker(), worker()]
  await Promise.all(
    nodes.map(async (node) => {
      await raise([node])
      for (const one of workers) one.nudge()
    }),
  )
  const told = () => bodies(got).flatMap((body) => body.alerts.map((alert) => alert.id))
  await eventually(() => told().length >= 30)
  await Promise.all(workers.map((one) => one.stop()))
  expect([told().length, new Set(told()).size]).toEqual([30, 30])
})
