import { claimAlertDelivery, finishAlertDelivery, planAlertDeliveries, raiseAlerts } from '@muster/core/alerts'
import type { TenantFixture } from '@muster/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { globalId } from './graphql/shared/ids.ts'
import { testApi } from './testing/api.ts'

let t: Awaited<ReturnType<typeof testApi>>
let cast: TenantFixture
beforeAll(async () => {
  t = await testApi()
  cast = await t.given.tenant()
})
afterAll(() => t?.close())

const ERRORS = '... on Error { code message } ... on InvalidInputError { issues { path message } }'
const create = (as: TenantFixture['admin'], input: object) =>
  t.ask<{ it: Record<string, unknown> & { id: string } }>(
    as,
    `mutation ($input: CreateAlertRouteInput!) { it: createAlertRoute(input: $input) {
      ... on AlertRoute { id kind origin host port security to hasSecret matcher { kinds severities query clusters } writeBlockedReason }
      ${ERRORS} } }`,
    { input },
  )

test('a route is made, tested, changed and deleted, and its secrets never come out', async () => {
  const url = 'https://hooks.test/T0/hidden'
  const { it: made } = await create(cast.admin, { name: 'duty', kind: 'WEBHOOK', url, secret: 'a secret of mine' })
  expect(made).toMatchObject({
    origin: 'https://hooks.test',
    hasSecret: true,
    to: [],
    matcher: { kinds: [], severities: ['WARNING', 'CRITICAL'], query: null, clusters: [] },
    writeBlockedReason: null,
  })
  const sent = await t.ask<{ it: { id: string } }>(
    cast.admin,
    'mutation ($id: ID!) { it: testAlertRoute(id: $id) { ... on AlertDelivery { id event status } ... on Error { message } } }',
    { id: made.id },
  )
  expect(sent.it).toMatchObject({ event: 'TEST', status: 'PENDING' })
  await finishAlertDelivery(cast.worker, (await claimAlertDelivery(t.runtime))!, null)
  const [row] = await t.given.fleet(cast.operator, { nodes: 1 })
  const alert = { tenantId: cast.tenant.id, nodeId: row!.id, kind: 'offline' as const, evidence: { silentS: 301 } }
  await t.runtime.db.transaction((tx) => raiseAlerts(tx, [alert]))
  await planAlertDeliveries(t.runtime)
  await finishAlertDelivery(cast.worker, (await claimAlertDelivery(t.runtime))!, {
    error: 'https://hooks.test answers with 500.',
  })
  const seen = await t.ask<{ alertRoutes: { edges: { node: Record<string, unknown> }[] } }>(
    cast.viewer,
    `{ alertRoutes { totalCount edges { node { name failingSince lastError retryAt isEnabled notifyOnResolve writeBlockedReason
        deliveries(first: 5) { totalCount edges { node { id event status attempts lastError alertCount alerts } } } } } }
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
            writeBlockedReason: expect.stringMatching(/needs the role admin/),
            deliveries: {
              totalCount: 2,
              edges: [
                {
                  node: {
                    event: 'OPENED',
                    status: 'PENDING',
                    attempts: 1,
                    alertCount: 1,
                    alerts: [{ kind: 'offline', node: 'gpu001', evidence: { silentS: 301 } }],
                  },
                },
                { node: { id: sent.it.id, event: 'TEST', status: 'DELIVERED' } },
              ],
            },
          },
        },
      ],
    },
    alerts: { edges: [{ node: { kind: 'OFFLINE', silence: null } }] },
  })
  expect(JSON.stringify([made, seen])).not.toMatch(/hidden|secret of mine/)
  const off = await t.ask(
    cast.admin,
    'mutation ($id: ID!) { it: updateAlertRoute(input: { id: $id, isEnabled: false, matcher: { kinds: [STALE] } }) { ... on AlertRoute { isEnabled failingSince matcher { kinds severities } } } }',
    { id: made.id },
  )
  expect(off).toEqual({ it: { isEnabled: false, failingSince: null, matcher: { kinds: ['STALE'], severities: [] } } })
  const gone = await t.ask(cast.admin, 'mutation ($id: ID!) { it: deleteAlertRoute(id: $id) { ... on Deleted { id } } }', {
    id: made.id,
  })
  expect(gone).toEqual({ it: { id: made.id } })
})

test('what is wrong stands at its field', async () => {
  const { it: wrong } = await create(cast.admin, { name: 'mail', kind: 'EMAIL', host: 'mail.test', from: 'nobody', to: [] })
  expect(wrong).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: 'from' }] })
  const { it: other } = await create(cast.admin, { name: 'mail', kind: 'SLACK', matcher: { query: 'tagg = a' }, url: 'x' })
  expect(other).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: 'url' }] })
  const { it: query } = await create(cast.admin, {
    name: 'm',
    kind: 'SLACK',
    matcher: { query: 'tagg = a' },
    url: 'https://x.test',
  })
  expect(query).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: 'matcher.query' }] })
  expect((await create(cast.operator, { name: 'm', kind: 'SLACK', url: 'https://x.test' })).it).toMatchObject({
    code: 'FORBIDDEN',
  })
})

test('an alert shows the silence under which it is, until somebody ends that', async () => {
  const [row] = await t.given.fleet(cast.operator, { nodes: 1, prefix: 'quiet' })
  const alert = { tenantId: cast.tenant.id, nodeId: row!.id, kind: 'stale' as const, evidence: {} }
  await t.runtime.db.transaction((tx) => raiseAlerts(tx, [alert]))
  const { it: silence } = await t.ask<{ it: { id: string } }>(
    cast.operator,
    `mutation ($endsAt: DateTime!) { it: createAlertSilence(input: { matcher: { query: "name = quiet001" }, reason: "rack 4", endsAt: $endsAt }) {
      ... on AlertSilence { id createdByName endBlockedReason matcher { query } } ${ERRORS} } }`,
    { endsAt: new Date(Date.now() + 3_600_000).toISOString() },
  )
  expect(silence).toMatchObject({ endBlockedReason: null, matcher: { query: 'name = quiet001' } })
  const shown = () =>
    t.ask(
      cast.viewer,
      `{ alerts(filter: { nodeId: "${globalId('ComputeNode', row!.id)}" }) { edges { node { silence { reason } } } } alertSilences { totalCount } }`,
    )
  expect(await shown()).toEqual({
    alerts: { edges: [{ node: { silence: { reason: 'rack 4' } } }] },
    alertSilences: { totalCount: 1 },
  })
  const end =
    'mutation ($id: ID!) { it: endAlertSilence(id: $id) { ... on AlertSilence { endBlockedReason } ... on Error { code } } }'
  expect(await t.ask(cast.operator, end, { id: silence.id })).toEqual({
    it: { endBlockedReason: expect.stringMatching(/The silence ended on/) },
  })
  expect(await t.ask(cast.operator, end, { id: silence.id })).toEqual({ it: { code: 'CONFLICT' } })
  expect(await shown()).toEqual({ alerts: { edges: [{ node: { silence: null } }] }, alertSilences: { totalCount: 0 } })
})
