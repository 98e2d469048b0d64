import { claimAlertDelivery, finishAlertDelivery, planAlertDeliveries, raiseAlerts } from '@muster/core/alerts'
import type { TenantFixture } from '@muster/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApi } from '../../testing/api.ts'
import { mutate } from '../../testing/mutate.ts'
import { globalId } from '../shared/ids.ts'

let t: Awaited<ReturnType<typeof testApi>>
let fixture: TenantFixture
beforeAll(async () => {
  t = await testApi()
  fixture = await t.given.tenant()
})
afterAll(() => t?.close())

const create = (as: TenantFixture['admin'], input: object) =>
  mutate(
    t,
    as,
    'createAlertRoute',
    'alertRoute { id kind origin host port security to hasSecret matcher { kinds severities query clusters } updateBlockedReason }',
    input,
  )

test('creates, tests, updates and deletes a route without returning its secrets', async () => {
  const url = 'https://hooks.test/T0/hidden'
  const { alertRoute: created } = await create(fixture.admin, { name: 'duty', kind: 'WEBHOOK', url, secret: 'a route secret' })
  expect(created).toMatchObject({
    origin: 'https://hooks.test',
    hasSecret: true,
    to: [],
    matcher: { kinds: [], severities: ['WARNING', 'CRITICAL'], query: null, clusters: [] },
    updateBlockedReason: null,
  })
  const { id } = created
  const { alertDelivery } = await mutate(t, fixture.admin, 'testAlertRoute', 'alertDelivery { id event status }', { id })
  expect(alertDelivery).toMatchObject({ event: 'TEST', status: 'PENDING' })
  await finishAlertDelivery(fixture.worker, (await claimAlertDelivery(t.runtime))!, null)
  const [row] = await t.given.fleet(fixture.operator, { nodes: 1 })
  const alert = { tenantId: fixture.tenant.id, nodeId: row!.id, kind: 'offline' as const, evidence: { silentSeconds: 301 } }
  await t.runtime.db.transaction((tx) => raiseAlerts(tx, [alert]))
  await planAlertDeliveries(t.runtime)
  await finishAlertDelivery(fixture.worker, (await claimAlertDelivery(t.runtime))!, {
    error: 'https://hooks.test answers with 500.',
  })
  const seen = await t.ask<{ alertRoutes: { edges: { node: Record<string, unknown> }[] } }>(
    fixture.viewer,
    `{ alertRoutes { totalCount edges { node { name failingSince lastError retryAt isEnabled notifyOnResolve updateBlockedReason
        deliveries(first: 5) { totalCount edges { node { id event status attempts lastError alertCount alerts { kind nodeName evidence { ... on AgentStateEvidence { silentSeconds } } } } } } } } }
      alerts(filter: { nodeId: "${globalId('ComputeNode', row!.id)}" }) { edges { node { kind silence { reason } } } } }`,
  )
  expect(seen).toMatchObject({
    alertRoutes: {
      totalCount: 1,
      edges: [
        {
          node: {
            name: 'duty',
            lastError: 'https://hooks.test answers with 500.',
            failingSince: expect.any(String),
            retryAt: expect.any(String),
            updateBlockedReason: expect.stringMatching(/alert_route:write/),
            deliveries: {
              totalCount: 2,
              edges: [
                {
                  node: {
                    event: 'OPENED',
                    status: 'PENDING',
                    attempts: 1,
                    alertCount: 1,
                    alerts: [{ kind: 'OFFLINE', nodeName: 'gpu001', evidence: { silentSeconds: 301 } }],
                  },
                },
                { node: { id: alertDelivery.id, event: 'TEST', status: 'DELIVERED' } },
              ],
            },
          },
        },
      ],
    },
    alerts: { edges: [{ node: { kind: 'OFFLINE', silence: null } }] },
  })
  expect(JSON.stringify([created, seen])).not.toMatch(/hidden|a route secret/)
  const updated = await mutate(
    t,
    fixture.admin,
    'updateAlertRoute',
    'alertRoute { isEnabled failingSince matcher { kinds severities } }',
    { id, isEnabled: false, matcher: { kinds: ['STALE'] } },
  )
  expect(updated.alertRoute).toEqual({ isEnabled: false, failingSince: null, matcher: { kinds: ['STALE'], severities: [] } })
  expect(await mutate(t, fixture.admin, 'deleteAlertRoute', 'deletedId', { id })).toMatchObject({ deletedId: id })
})

test('rejects invalid routes with the path of the field', async () => {
  const wrong = await create(fixture.admin, { name: 'mail', kind: 'EMAIL', host: 'mail.test', from: 'nobody', to: [] })
  expect(wrong).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: 'from' }] })
  const other = await create(fixture.admin, { name: 'mail', kind: 'SLACK', matcher: { query: 'tagg = a' }, url: 'x' })
  expect(other).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: 'url' }] })
  const query = await create(fixture.admin, {
    name: 'm',
    kind: 'SLACK',
    matcher: { query: 'tagg = a' },
    url: 'https://x.test',
  })
  expect(query).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: 'matcher.query' }] })
  expect(await create(fixture.operator, { name: 'm', kind: 'SLACK', url: 'https://x.test' })).toMatchObject({ code: 'FORBIDDEN' })
})

test('shows the silence of an alert until the silence is ended', async () => {
  const [row] = await t.given.fleet(fixture.operator, { nodes: 1, prefix: 'quiet' })
  const alert = { tenantId: fixture.tenant.id, nodeId: row!.id, kind: 'stale' as const, evidence: {} }
  await t.runtime.db.transaction((tx) => raiseAlerts(tx, [alert]))
  const { alertSilence: silence } = await mutate(
    t,
    fixture.operator,
    'createAlertSilence',
    'alertSilence { id endBlockedReason matcher { query } }',
    {
      matcher: { query: 'name = quiet001' },
      reason: 'rack 4',
      endsAt: new Date(Date.now() + 3_600_000).toISOString(),
    },
  )
  expect(silence).toMatchObject({ endBlockedReason: null, matcher: { query: 'name = quiet001' } })
  const shown = () =>
    t.ask(
      fixture.viewer,
      `{ alerts(filter: { nodeId: "${globalId('ComputeNode', row!.id)}" }) { edges { node { silence { reason } } } } alertSilences { totalCount } }`,
    )
  expect(await shown()).toEqual({
    alerts: { edges: [{ node: { silence: { reason: 'rack 4' } } }] },
    alertSilences: { totalCount: 1 },
  })
  const end = () => mutate(t, fixture.operator, 'endAlertSilence', 'alertSilence { endBlockedReason }', { id: silence.id })
  expect(await end()).toMatchObject({ alertSilence: { endBlockedReason: expect.stringMatching(/^The silence ended on/) } })
  expect(await end()).toMatchObject({ code: 'CONFLICT' })
  expect(await shown()).toEqual({ alerts: { edges: [{ node: { silence: null } }] }, alertSilences: { totalCount: 0 } })
})

test('lists the alerts of the nodes of a limit expression', async () => {
  const { operator, viewer } = await t.given.tenant()
  const nodes = await t.given.fleet(operator, { nodes: 2, with: (i) => ({ tags: [`tag${i}`] }) })
  const alerts = nodes.map(({ id, tenantId }) => ({
    tenantId,
    nodeId: id,
    kind: 'offline' as const,
    evidence: { silentSeconds: 301 },
  }))
  await t.runtime.db.transaction((tx) => raiseAlerts(tx, alerts))
  const names = async (limit: string) => {
    const { alerts } = await t.ask<{ alerts: { totalCount: number; edges: { node: { node: { name: string } } }[] } }>(
      viewer,
      'query ($filter: AlertFilter) { alerts(filter: $filter) { totalCount edges { node { node { name } } } } }',
      { filter: { limit } },
    )
    expect(alerts.totalCount).toBe(alerts.edges.length)
    return alerts.edges.map(({ node }) => node.node.name).toSorted()
  }
  expect(await names('all')).toEqual(['gpu001', 'gpu002'])
  expect(await names('tag:tag0')).toEqual(['gpu001'])
  expect(await names('gpu*,!tag:tag0')).toEqual(['gpu002'])
  expect(await names('tag:none')).toEqual([])
})
