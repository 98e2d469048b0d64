import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { claimJobRun } from '@muster/core/run-queue'
import { appendJobRunEvents, finishJobRun, runJob } from '@muster/core/runs'
import type { TenantFixture } from '@muster/core/testing'
import { EventSource } from 'eventsource'
import { auditServer } from 'graphql-http'
import { createClient as createSseClient } from 'graphql-sse'
import { CloseCode, createClient } from 'graphql-ws'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import WebSocket from 'ws'
import { readGuide } from '../../../cli/src/testing/guide.ts'
import { createReverseProxy } from '../../../standalone/src/reverse-proxy.ts'
import { globalId } from '../graphql/shared/ids.ts'
import { MAX_SUBSCRIPTIONS } from '../limits.ts'
import { testApi } from '../testing/api.ts'
import { type HttpServer, serveHttp } from './server.ts'

// Third-party clients, through the reverse proxy that serves the console's address.
let t: Awaited<ReturnType<typeof testApi>>
let api: HttpServer
let proxy: ReturnType<typeof createReverseProxy>
/** Open connections of clients. */
const sockets = new Set<Socket>()
let tenant: TenantFixture
let token: string
let url: string
beforeAll(async () => {
  t = await testApi({ corsOrigins: ['https://portal.example.com'] })
  api = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
  proxy = createReverseProxy({ api: `http://127.0.0.1:${api.port}`, console: 'http://127.0.0.1:9' })
  proxy.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(proxy.address() as { port: number }).port}/graphql`
  tenant = await t.given.tenant()
  token = await t.tokenOf(tenant.operator)
  const { id: credentialId } = await t.given.credential(tenant.admin, 'SSH_KEY')
  await t.given.fleet(tenant.admin, { nodes: 1, with: { credentialId } })
})
afterAll(async () => {
  cutConnections()
  proxy?.close()
  await api?.stop()
  await t?.close()
})

const cutConnections = () => {
  for (const socket of sockets) socket.destroy(new Error('connection lost'))
}

const LINES = 4
/** The lines and the event that ends a run. */
const ALL = [1, 2, 3, 4, 5]
const LOG = 'subscription ($id: ID!, $after: BigInt) { jobRunEvents(id: $id, after: $after) { lastSeq events { seq stdout } } }'
type Batch = { jobRunEvents: { lastSeq: number; events: { seq: number }[] } }

/** A run with `LINES` lines; it ends unless `isOpen`. */
async function createRun({ isOpen = false } = {}) {
  const { id } = await runJob(tenant.operator, { template: 'connectivity_check', limit: 'all' })
  const { token } = (await claimJobRun(tenant.worker, { id, workerId: 'w' }))!
  const events = Array.from({ length: LINES }, (_, i) => ({ kind: 'output', stdout: `line ${i}`, createdAt: new Date() }))
  await appendJobRunEvents(tenant.worker, { id, token, events })
  const more = () =>
    appendJobRunEvents(tenant.worker, { id, token, events: [{ kind: 'output', stdout: 'late', createdAt: new Date() }] })
  const finish = () => finishJobRun(tenant.worker, { id, token, hosts: [], endCause: 'exit', exitCode: 0, artifacts: [] })
  if (!isOpen) await finish()
  return { id: globalId('JobRun', id), more, finish }
}

describe('GraphQL over HTTP', () => {
  test.each([
    ['signed in', () => ({ authorization: `Bearer ${token}` })],
    ['signed out', () => ({})],
  ])('passes the audits of graphql-http, %s', async (_name, headers) => {
    const results = await auditServer({
      url,
      fetchFn: (input: string, init: RequestInit = {}) => fetch(input, { ...init, headers: { ...init.headers, ...headers() } }),
    })
    const failed = results.filter((result) => result.status !== 'ok')
    expect(failed.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([])
    expect(results.length).toBeGreaterThan(60)
  })

  test('serves the schema, and compresses large responses', async () => {
    const response = await fetch(`${url}/schema.graphql`)
    expect(response.headers.get('content-type')).toContain('application/graphql')
    expect(response.headers.get('content-encoding')).toBe('gzip')
    expect(await response.text()).toMatch(/^type ComputeNode /m)
    const plain = await fetch(`${url}/schema.graphql`, { headers: { 'accept-encoding': 'identity' } })
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect((await fetch(`${url}/schema.graphql`, { method: 'DELETE' })).status).toBe(405)
  })

  test('answers pages of configured origins only', async () => {
    const allowed = async (origin: string) =>
      (
        await fetch(url, {
          method: 'OPTIONS',
          headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
        })
      ).headers.get('access-control-allow-origin')
    expect(await allowed('https://portal.example.com')).toBe('https://portal.example.com')
    expect(await allowed('https://evil.example.com')).not.toBe('https://evil.example.com')
  })
})

test('graphql-ws follows a log; an Authorization in any case is accepted and an invalid token rejected at connection_init', async () => {
  const { id } = await createRun()
  for (const connectionParams of [
    { Authorization: `Bearer ${token}` },
    { authorization: `Bearer ${token}` },
    { headers: { AUTHORIZATION: `Bearer ${token}` } },
  ]) {
    const client = createClient({ url: url.replace('http', 'ws'), webSocketImpl: WebSocket, connectionParams })
    const seqs: number[] = []
    for await (const { data } of client.iterate<Batch>({ query: LOG, variables: { id, after: 0 } }))
      seqs.push(...data!.jobRunEvents.events.map((event) => event.seq))
    expect(seqs).toEqual(ALL)
    await client.dispose()
  }
  const client = createClient({
    url: url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    connectionParams: { authorization: 'Bearer mst_wrong' },
  })
  const failure = await client
    .iterate({ query: '{ viewer { name } }' })
    .next()
    .catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: CloseCode.Unauthorized, reason: expect.stringContaining('token') })
})

test('a WebSocket names its tenant at connection_init; a token of another tenant is rejected', async () => {
  const connect = async (tenant: string) => {
    const connectionParams = { authorization: `Bearer ${token}`, 'X-Muster-Tenant': tenant }
    // Without attempts to connect again after the rejection.
    const options = { webSocketImpl: WebSocket, retryAttempts: 0 }
    const client = createClient({ url: url.replace('http', 'ws'), connectionParams, ...options })
    const { value } = await client.iterate({ query: '{ viewer { tenant { name } } }' }).next()
    await client.dispose()
    return value
  }
  const { name } = tenant.tenant
  expect(await connect(name)).toMatchObject({ data: { viewer: { tenant: { name } } } })
  await expect(connect('somebody else')).rejects.toMatchObject({
    code: CloseCode.Forbidden,
    reason: expect.stringContaining('tenant'),
  })
})

test('caps the operations that are open on one WebSocket', async () => {
  const client = createClient({
    url: url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${token}` },
  })
  const open = Array.from({ length: MAX_SUBSCRIPTIONS + 1 }, () =>
    client.iterate({ query: 'subscription { nodeUpdated { id } }' }),
  )
  const errors = await Promise.race(
    open.map(async (each) => {
      const { value } = await each.next()
      return value?.errors ? value.errors : new Promise<never>(() => {})
    }),
  ).catch((error: unknown) => error)
  expect(errors).toMatchObject([{ extensions: { code: 'LIMIT_EXCEEDED', limit: 'SUBSCRIPTIONS', maximum: MAX_SUBSCRIPTIONS } }])
  await client.dispose()
})

/** The client snippets of the guide. Blocks without a package name are their common lines. */
const { blocks } = readGuide(fileURLToPath(new URL('../../../../docs/integrate.md', import.meta.url)))
const scripts = blocks.filter(({ language }) => language === 'js').map(({ text }) => text)
const packageOf = (script: string) => /^\/\/ npm: ([\w-]+)/.exec(script)?.[1]
const common = scripts.filter((script) => !packageOf(script)).join('')
const PACKAGES: Record<string, object> = {
  eventsource: { EventSource },
  'graphql-ws': { createClient },
  'graphql-sse': { createClient: createSseClient },
}
const AsyncFunction = (async () => {}).constructor as new (...text: string[]) => (...args: unknown[]) => Promise<void>

test('the guide has a snippet for each client', () => {
  expect(scripts.flatMap((script) => packageOf(script) ?? [])).toEqual(Object.keys(PACKAGES))
})

test.each(Object.keys(PACKAGES))('with the snippet for %s, a lost connection repeats and loses no event', async (name) => {
  const { id, more, finish } = await createRun({ isOpen: true })
  const seqs: number[] = []
  const values = {
    url: url.replace(/\/graphql$/, ''),
    token,
    id,
    console: { log: (events: { seq: number }[]) => seqs.push(...events.map(({ seq }) => seq)) },
    ...PACKAGES[name],
  }
  const snippet = new AsyncFunction(...Object.keys(values), common + scripts.find((script) => packageOf(script) === name)!)
  const ended = snippet(...Object.values(values))
  await vi.waitFor(() => expect(seqs).toHaveLength(LINES), 10_000)
  expect(sockets.size).toBeGreaterThan(0)
  cutConnections()
  await more()
  await finish()
  await vi.waitFor(() => expect(seqs).toContain(LINES + 2), 10_000)
  await ended
  expect(seqs).toEqual([...ALL, LINES + 2])
})

const PYTHON = `
import asyncio, builtins, json, sys
from gql import Client, gql
from gql.transport.websockets import WebsocketsTransport
url, token, run_id, query = sys.argv[1:]
def print(events):
    builtins.print(json.dumps([event["seq"] for event in events]))
async def main():
${blocks.find(({ text }) => text.startsWith('# PyPI: gql'))!.text.replace(/^/gm, '    ')}
asyncio.run(main())
`

test.runIf(process.env.GQL)("Python's gql follows a log with the snippet of the guide", async () => {
  const { id } = await createRun()
  const child = spawn(process.env.TEST_PYTHON!, ['-c', PYTHON, url.replace(/\/graphql$/, ''), token, id, LOG], {
    env: { PATH: process.env.PATH, PYTHONPATH: process.env.GQL },
  })
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  expect(out, errors).toBe('[1, 2, 3, 4, 5]\n')
})
