import { acknowledgeAlerts, raiseAlerts, resolveAlerts } from '@muster/core/alerts'
import type { TenantFixture } from '@muster/core/testing'
import { EventSource } from 'eventsource'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createReverseProxy } from '../../../../standalone/src/reverse-proxy.ts'
import { type HttpServer, serveHttp } from '../../http/server.ts'
import { testApi } from '../../testing/api.ts'

let t: Awaited<ReturnType<typeof testApi>>
let api: HttpServer
let proxy: ReturnType<typeof createReverseProxy>
let tenant: TenantFixture
let url: string
let nodes: { id: string; name: string }[]
beforeAll(async () => {
  t = await testApi()
  api = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
  proxy = createReverseProxy({ api: `http://127.0.0.1:${api.port}`, console: 'http://127.0.0.1:9' })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(proxy.address() as { port: number }).port}/graphql`
  tenant = await t.given.tenant()
  nodes = await t.given.fleet(tenant.operator, { nodes: 8 })
  // Changes of another tenant are never sent.
  const other = await t.given.tenant()
  const [theirs] = await t.given.fleet(other.operator, { nodes: 1 })
  await t.runtime.db.transaction((tx) =>
    raiseAlerts(tx, [{ tenantId: other.tenant.id, nodeId: theirs!.id, kind: 'offline', evidence: {} }]),
  )
})
afterAll(async () => {
  proxy?.closeAllConnections()
  proxy?.close()
  await api?.stop()
  await t?.close()
})

const QUERY =
  'subscription ($after: String) { alertUpdated(after: $after) { cursor alert { id message count resolvedAt acknowledgment } } }'
type Update = { cursor: string; alert: { id: string; message: string; count: number; resolvedAt: string | null } }

const alertOf = (index: number) => ({
  tenantId: tenant.tenant.id,
  nodeId: nodes[index]!.id,
  kind: 'offline' as const,
  evidence: {},
})
/** Raises the alert of a node and sends the change event. */
async function raise(index: number) {
  for (const event of await t.runtime.db.transaction((tx) => raiseAlerts(tx, [alertOf(index)]))) t.runtime.notify(event)
}
async function resolve(index: number) {
  const resolved = { tenantId: tenant.tenant.id, nodeId: nodes[index]!.id, kinds: ['offline' as const] }
  for (const event of await t.runtime.db.transaction((tx) => resolveAlerts(tx, [resolved]))) t.runtime.notify(event)
}
const cursorNow = async () =>
  (await t.ask<{ alertUpdateCursor: string }>(tenant.viewer, '{ alertUpdateCursor }')).alertUpdateCursor

async function subscribe(after: string) {
  const token = await t.tokenOf(tenant.viewer)
  const lastEventIds: (string | null)[] = []
  const source = new EventSource(`${url}?${new URLSearchParams({ query: QUERY, variables: JSON.stringify({ after }) })}`, {
    fetch: (input, init) => {
      const headers = new Headers(init.headers as HeadersInit)
      lastEventIds.push(headers.get('last-event-id'))
      headers.set('authorization', `Bearer ${token}`)
      return fetch(input, { ...init, headers })
    },
  })
  const updates: Update[] = []
  source.addEventListener('next', ({ data }) => updates.push(JSON.parse(data).data.alertUpdated))
  const messages = () => updates.map(({ alert }) => alert.message)
  return { updates, messages, lastEventIds, close: () => source.close() }
}

test('sends each change once over a cut connection', async () => {
  const client = await subscribe(await cursorNow())
  await raise(0)
  await expect.poll(client.messages).toEqual(['gpu001 is offline'])
  proxy.closeAllConnections()
  // While the client is disconnected, or before: both must arrive once.
  await raise(1)
  await resolve(0)
  await expect.poll(() => client.updates).toHaveLength(3)
  await raise(2)
  await expect.poll(() => client.updates).toHaveLength(4)
  client.close()
  expect(client.messages()).toEqual(['gpu001 is offline', 'gpu002 is offline', 'gpu001 is offline', 'gpu003 is offline'])
  expect(client.updates[2]!.alert.resolvedAt).not.toBeNull()
  expect(client.lastEventIds[0]).toBeNull()
  expect(client.lastEventIds).toContain(client.updates[0]!.cursor)
})

test('sends a change that commits after a later one', async () => {
  const client = await subscribe(await cursorNow())
  let commit = () => {}
  const committed = new Promise<void>((resolve) => (commit = resolve))
  const slow = t.runtime.db.transaction(async (tx) => {
    const events = await raiseAlerts(tx, [alertOf(3)])
    await committed
    return events
  })
  await raise(4)
  await expect.poll(client.messages).toEqual(['gpu005 is offline'])
  const cursor = client.updates[0]!.cursor
  client.close()
  commit()
  await slow
  const resumed = await subscribe(cursor)
  await raise(5)
  await expect.poll(() => resumed.updates).toHaveLength(2)
  resumed.close()
  expect(resumed.messages()).toEqual(['gpu004 is offline', 'gpu006 is offline'])
})

test('resumes in the middle of changes of one transaction', async () => {
  const start = await cursorNow()
  const { alerts } = await t.ask<{ alerts: { edges: { node: { id: string } }[] } }>(
    tenant.viewer,
    '{ alerts { edges { node { id } } } }',
  )
  const ids = alerts.edges.map(({ node }) => Buffer.from(node.id, 'base64').toString().split(':')[1]!)
  await acknowledgeAlerts(tenant.operator, { ids, note: 'moved' })
  const whole = await subscribe(start)
  await expect.poll(() => whole.updates).toHaveLength(ids.length)
  whole.close()
  for (const [index, { cursor }] of whole.updates.entries()) {
    const rest = await subscribe(cursor)
    await raise(6)
    await expect.poll(rest.messages).toContain('gpu007 is offline')
    rest.close()
    const acknowledged = rest.messages().filter((message) => message !== 'gpu007 is offline')
    expect(acknowledged).toEqual(whole.messages().slice(index + 1))
  }
})

test('rejects an invalid cursor', async () => {
  const response = await t.api.yoga.fetch('http://test/graphql', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      authorization: `Bearer ${await t.tokenOf(tenant.viewer)}`,
    },
    body: JSON.stringify({ query: QUERY, variables: { after: 'nonsense' } }),
  })
  expect(await response.text()).toContain('is not a cursor of alertUpdated')
})

test('sends the current state of one alert first', async () => {
  const { alerts } = await t.ask<{ alerts: { edges: { node: { id: string; message: string } }[] } }>(
    tenant.viewer,
    '{ alerts(first: 1) { edges { node { id message } } } }',
  )
  const { id, message } = alerts.edges[0]!.node
  const token = await t.tokenOf(tenant.viewer)
  const query = `subscription { alertUpdated(id: "${id}") { alert { message } } }`
  const source = new EventSource(`${url}?${new URLSearchParams({ query })}`, {
    fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } }),
  })
  const first = await new Promise<string>((resolve) =>
    source.addEventListener('next', ({ data }) => resolve(data), { once: true }),
  )
  source.close()
  expect(JSON.parse(first)).toEqual({ data: { alertUpdated: { alert: { message } } } })
})
