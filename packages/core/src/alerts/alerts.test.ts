import { desc, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agents } from '../agents/tables.ts'
import type { Ctx } from '../kernel/context.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { acknowledgeAlerts } from './acknowledge-alerts.ts'
import type { AlertKind } from './kinds.ts'
import { raiseAlerts } from './raise-alerts.ts'
import { resolveAlertManually } from './resolve-alert.ts'
import { resolveAlerts } from './resolve-alerts.ts'
import { alerts } from './tables.ts'

let t: TestRuntime
let fixture: TenantFixture
let ctx: Ctx
beforeAll(async () => {
  t = await testRuntime()
  fixture = await t.given.tenant()
  ctx = fixture.system
})
afterAll(() => t.close())

const raise = (nodeId: string, kind: AlertKind, evidence = {}) =>
  t.runtime.db.transaction((tx) => raiseAlerts(tx, [{ tenantId: ctx.tenantId, nodeId, kind, evidence }]))
const resolve = (nodeId: string, ...kinds: AlertKind[]) =>
  t.runtime.db.transaction((tx) => resolveAlerts(tx, [{ tenantId: ctx.tenantId, nodeId, kinds }]))
const ofNode = (nodeId: string) => t.runtime.db.select().from(alerts).where(eq(alerts.nodeId, nodeId)).orderBy(desc(alerts.id))
const fiveMinutesLater = (nodeId: string) =>
  t.runtime.db.execute(sql`update ${alerts} set opened_at = opened_at - interval '5 minutes' where node_id = ${nodeId}`)

test('one alert per node and kind: counts while open, and reopens within five minutes', async () => {
  const [node, other] = await t.given.fleet(fixture.operator, { nodes: 2, prefix: 'a' })
  const [changeEvent] = await raise(node!.id, 'offline', { silentMs: 300_001 })
  await raise(other!.id, 'offline')
  expect(await raise(node!.id, 'offline', { silentSeconds: 300.5 })).toEqual([changeEvent])
  const [first] = await ofNode(node!.id)
  expect(first).toMatchObject({
    kind: 'offline',
    severity: 'critical',
    count: 2,
    evidence: { silentSeconds: 300.5 },
    resolvedAt: null,
  })
  expect(changeEvent).toEqual({ topic: 'alert', id: first!.id, tenantId: ctx.tenantId })
  expect(await resolve(node!.id, 'stale', 'offline')).toEqual([changeEvent])
  expect((await ofNode(node!.id))[0]!.resolvedAt).not.toBeNull()
  expect(await resolve(node!.id, 'stale', 'offline')).toEqual([])
  await raise(node!.id, 'offline')
  expect(await ofNode(node!.id)).toMatchObject([{ id: first!.id, count: 3, resolvedAt: null }])
  await resolve(node!.id, 'offline')
  await fiveMinutesLater(node!.id)
  await raise(node!.id, 'offline')
  expect(await ofNode(node!.id)).toMatchObject([
    { count: 1, resolvedAt: null, isLatest: true },
    { id: first!.id, count: 3, isLatest: false },
  ])
  expect(await ofNode(other!.id)).toMatchObject([{ count: 1, resolvedAt: null }])
})

test('alerts of clusters and tenants have no node; equal alerts of one call are merged', async () => {
  const raised = [null, 'a', 'b', 'a'].map((cluster) => ({
    tenantId: ctx.tenantId,
    nodeId: null,
    cluster,
    kind: 'mass_outage' as const,
    evidence: {},
  }))
  expect(await t.runtime.db.transaction((tx) => raiseAlerts(tx, raised))).toHaveLength(3)
  const over = [{ tenantId: ctx.tenantId, nodeId: null, cluster: 'a', kinds: ['mass_outage' as const] }]
  expect(await t.runtime.db.transaction((tx) => resolveAlerts(tx, over))).toHaveLength(1)
})

test('concurrent calls that raise and resolve leave one alert each', async () => {
  const nodes = await t.given.fleet(fixture.operator, { nodes: 20, prefix: 'race' })
  const raised = nodes.map(({ id }) => ({ tenantId: ctx.tenantId, nodeId: id, kind: 'stale' as const, evidence: {} }))
  const turn = (i: number) =>
    t.runtime.db.transaction((tx) =>
      i % 3 === 2
        ? resolveAlerts(
            tx,
            raised.map((each) => ({ ...each, kinds: ['stale' as const] })),
          )
        : raiseAlerts(tx, i % 2 ? raised : raised.toReversed()),
    )
  await Promise.all(Array.from({ length: 30 }, (_, i) => turn(i)))
  const rows = await t.runtime.db.select().from(alerts).where(eq(alerts.kind, 'stale'))
  expect(new Set(rows.map((row) => row.nodeId)).size).toBe(rows.length)
})

test('operators acknowledge alerts of their tenant with a note', async () => {
  const nodes = await t.given.fleet(fixture.operator, { nodes: 2, prefix: 'ack' })
  for (const { id } of nodes) await raise(id, 'clock_skew')
  const ids = (await Promise.all(nodes.map(({ id }) => ofNode(id)))).map(([alert]) => alert!.id)
  const acknowledged = await acknowledgeAlerts(fixture.operator, { ids, note: 'the clock is being set' })
  expect(acknowledged).toMatchObject(
    ids.map((id) => ({
      id,
      acknowledgment: 'the clock is being set',
      acknowledgedById: fixture.operator.actor.id,
      acknowledgedByName: fixture.operator.actor.name,
      resolvedAt: null,
    })),
  )
  await expect(acknowledgeAlerts(fixture.viewer, { ids })).rejects.toThrow('alert:write')
  const stranger = await t.given.tenant()
  await expect(acknowledgeAlerts(stranger.owner, { ids })).rejects.toThrow(`There is no alert ${ids[0]}.`)
  expect((await ofNode(nodes[0]!.id))[0]!.acknowledgment).toBe('the clock is being set')
})

test('an admin resolves an alert of removed accelerators; other kinds resolve only automatically', async () => {
  const [node] = await t.given.fleet(fixture.operator, { prefix: 'taken' })
  await raise(node!.id, 'accelerator_lost', { before: 8, now: 7 })
  const { id } = (await ofNode(node!.id))[0]!
  await expect(resolveAlertManually(fixture.operator, { id })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(resolveAlertManually((await t.given.tenant()).owner, { id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  const ended = await resolveAlertManually(fixture.admin, { id, note: 'sold' })
  expect(ended).toMatchObject({ resolvedAt: expect.any(Date), acknowledgment: 'sold' })
  await expect(resolveAlertManually(fixture.admin, { id })).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('already resolved'),
  })
  await raise(node!.id, 'accelerator_lost', { before: 7, now: 6 })
  expect((await ofNode(node!.id))[0]).toMatchObject({ resolvedAt: null })
  await raise(node!.id, 'offline')
  const [offline] = await ofNode(node!.id)
  await expect(resolveAlertManually(fixture.admin, { id: offline!.id })).rejects.toMatchObject({ code: 'CONFLICT' })
})

test('sanitizes evidence that Postgres cannot store', async () => {
  const [node] = await t.given.fleet(fixture.operator, { nodes: 1, prefix: 'odd' })
  await raise(node!.id, 'fingerprint_changed', { fingerprint: 'a\u0000b\ud800' })
  expect(await ofNode(node!.id)).toMatchObject([{ evidence: { fingerprint: 'ab\ufffd' } }])
})

test('an alert of a node has the cluster of its agent', async () => {
  const [node] = await t.given.fleet(fixture.operator, { nodes: 1, prefix: 'cl' })
  await t.runtime.db.insert(agents).values({ nodeId: node!.id, tenantId: ctx.tenantId, agentId: 'cl001', cluster: 'blue' })
  await raise(node!.id, 'stale')
  expect(await ofNode(node!.id)).toMatchObject([{ cluster: 'blue' }])
})
