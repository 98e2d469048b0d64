import { subscribe as onDiagnostics } from 'node:diagnostics_channel'
import { once } from 'node:events'
import http from 'node:http'
import type net from 'node:net'
import { claimJobRun } from '@muster/core/run-queue'
import { appendJobRunEvents, finishJobRun, runJob } from '@muster/core/runs'
import type { TenantFixture } from '@muster/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ClientOptions, WebSocket } from 'ws'
import { globalId } from '../graphql/shared/ids.ts'
import { MAX_ANONYMOUS_BODY_BYTES, MAX_ANONYMOUS_SOCKETS, MAX_LARGE_BODIES, MAX_READS, MAX_SUBSCRIPTIONS } from '../limits.ts'
import type { Slots } from '../slots.ts'
import { testApi } from '../testing/api.ts'
import { type HttpServer, serveHttp } from './server.ts'

let t: Awaited<ReturnType<typeof testApi>>
let fixture: TenantFixture
let authorization: string
let tokenId: string
/** One with short timeouts, and one with those of the product. */
let hasty: HttpServer
let server: HttpServer
beforeAll(async () => {
  t = await testApi()
  fixture = await t.given.tenant()
  authorization = `Bearer ${await t.tokenOf(fixture.viewer)}`
  tokenId = (await t.api.deps.auth.findCaller(new Headers({ authorization })))!.actor.id!
  server = await serveHttp(t.api, { host: '127.0.0.1', port: 0, trustedProxy: { secret: 'of the proxy' } })
  hasty = await serveHttp(t.api, { host: '127.0.0.1', port: 0, initTimeoutMs: 100, keepAliveMs: 300, stallMs: 600 })
})
afterAll(async () => {
  await hasty?.stop()
  await server?.stop()
  await t?.close()
})

const open = ({ port }: HttpServer, options: ClientOptions = {}) =>
  new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', { perMessageDeflate: false, ...options })

/** Opens a socket that is signed in. `messages` are those that it received. */
async function signedIn(to: HttpServer) {
  const socket = open(to)
  const messages: { type: string; id?: string; payload?: unknown }[] = []
  socket.on('message', (data) => void messages.push(JSON.parse(String(data))))
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } }))
  await expect.poll(() => messages.length).toBe(1)
  const subscribe = (id: string, query: string, variables = {}) =>
    socket.send(JSON.stringify({ id, type: 'subscribe', payload: { query, variables } }))
  return { socket, messages, subscribe }
}

test('closes a socket that does not send connection_init in time', async () => {
  const [code, reason] = await once(open(hasty), 'close')
  expect([code, String(reason)]).toEqual([4408, 'Connection initialisation timeout'])
})

test('limits the sockets of a client network that are not signed in', async () => {
  // Addresses of one IPv6 network.
  let hosts = 0
  const openNext = () => open(server, { headers: { 'x-forwarded-for': `2001:db8::${++hosts}` } })
  const sockets = Array.from({ length: MAX_ANONYMOUS_SOCKETS }, openNext)
  await Promise.all(sockets.map((socket) => once(socket, 'open')))
  const [error] = (await once(openNext(), 'error')) as [Error]
  expect(error.message).toMatch('429')
  const [forged] = (await once(open(server, { headers: { 'x-forwarded-for': '10.1.2.3' } }), 'error')) as [Error]
  expect(forged.message).toMatch('429')
  const other = open(server, { headers: { authorization } })
  await once(other, 'open')
  const elsewhere = open(server, { headers: { 'x-forwarded-for': '10.1.2.3', 'x-muster-proxy-secret': 'of the proxy' } })
  await once(elsewhere, 'open')

  sockets[0]!.send(JSON.stringify({ type: 'connection_init', payload: { authorization } }))
  await once(sockets[0]!, 'message')
  const next = openNext()
  await once(next, 'open')
  for (const socket of [...sockets, next, other, elsewhere]) socket.terminate()
  await expect
    .poll(async () => {
      const again = openNext()
      const isOpen = await Promise.race([once(again, 'open').then(() => true), once(again, 'error').then(() => false)])
      again.terminate()
      return isOpen
    })
    .toBe(true)
})

test('limits the open operations of a socket', async () => {
  const { socket, messages, subscribe } = await signedIn(server)
  for (let i = 0; i <= MAX_SUBSCRIPTIONS; i++) subscribe(`${i}`, 'subscription { nodeUpdated { id } }')
  await expect.poll(() => messages.slice(1)).toHaveLength(1)
  expect(messages[1]).toMatchObject({
    type: 'error',
    id: `${MAX_SUBSCRIPTIONS}`,
    payload: [{ extensions: { code: 'LIMIT_EXCEEDED', limit: 'SUBSCRIPTIONS', maximum: 100, actual: 101 } }],
  })
  socket.terminate()
})

test('closes a socket that announces a message of 100 MB', async () => {
  const socket = open(server)
  await once(socket, 'open')
  const raw = (socket as unknown as { _socket: net.Socket })._socket
  const head = Buffer.alloc(14)
  head.writeUInt8(0x81, 0)
  head.writeUInt8(0xff, 1)
  head.writeBigUInt64BE(100_000_000n, 2)
  raw.write(head)
  const [code] = await once(socket, 'close')
  expect(code).toBe(1009)
})

test('closes a socket that sends pings and reads nothing', async () => {
  const socket = open(server)
  await once(socket, 'open')
  socket.pause()
  const raw = (socket as unknown as { _socket: net.Socket })._socket
  let isClosed = false
  raw.on('error', () => {})
  raw.once('close', () => (isClosed = true))
  const ping = Buffer.concat([Buffer.from([0x89, 0xfd, 0, 0, 0, 0]), Buffer.alloc(125)])
  const pings = Buffer.concat(Array.from({ length: 4000 }, () => ping))
  await expect
    .poll(
      () => {
        if (raw.writableLength < pings.length) raw.write(pings)
        return isClosed
      },
      { interval: 1 },
    )
    .toBe(true)
})

test('clients that read nothing delay nobody, use little memory and are disconnected', async () => {
  const accepted: net.Socket[] = []
  onDiagnostics('net.server.socket', (message) => void accepted.push((message as { socket: net.Socket }).socket))
  const credential = await t.given.credential(fixture.admin, 'SSH_KEY')
  await t.given.fleet(fixture.operator, { with: { credentialId: credential.id } })
  const { id } = await runJob(fixture.operator, { template: 'connectivity_check', limit: 'all' })
  const { token } = (await claimJobRun(fixture.worker, { id, workerId: 'w1' }))!
  const query = 'subscription ($id: ID!) { jobRunEvents(id: $id) { lastSeq events { startLine lineCount stdout } } }'
  const variables = { id: globalId('JobRun', id) }

  const reader = await signedIn(server)
  reader.subscribe('1', query, variables)
  const deafSocket = await signedIn(hasty)
  const deafSocketPeer = accepted.at(-1)!
  deafSocket.socket.pause()
  deafSocket.subscribe('1', query, variables)
  const deafStream = http.request({
    ...{ port: hasty.port, path: '/graphql', method: 'POST' },
    headers: { authorization, accept: 'text/event-stream', 'content-type': 'application/json' },
  })
  deafStream.on('error', () => {})
  deafStream.end(JSON.stringify({ query, variables }))
  const [response] = (await once(deafStream, 'response')) as [http.IncomingMessage]
  response.on('error', () => {})
  const deafStreamPeer = accepted.at(-1)!
  expect(deafStreamPeer).not.toBe(deafSocketPeer)

  let most = 0
  for (let i = 0; i < 40; i++) {
    const lines = Array.from({ length: 100 }, (_, n) => `line ${n} of an event `.padEnd(500, '.')).join('\n')
    const events = Array.from({ length: 25 }, () => ({ kind: 'output' as const, stdout: lines, createdAt: new Date() }))
    await appendJobRunEvents(fixture.worker, { id, token, events })
    most = Math.max(most, deafSocketPeer.writableLength, deafStreamPeer.writableLength)
  }
  await finishJobRun(fixture.worker, { id, token, endCause: 'exit', exitCode: 0, error: null, hosts: [] })
  await expect.poll(() => reader.messages.at(-1)!.type, { timeout: 20_000 }).toBe('complete')
  type Page = { data: { jobRunEvents: { events: { lineCount: number }[] } } }
  const pages = reader.messages.flatMap(({ type, payload }) => (type === 'next' ? [payload as Page] : []))
  expect(pages.flatMap(({ data }) => data.jobRunEvents.events).reduce((sum, { lineCount }) => sum + lineCount, 0)).toBe(100_000)
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThan(2_000_000)
  await expect.poll(() => [deafSocketPeer.destroyed, deafStreamPeer.destroyed], { timeout: 20_000 }).toEqual([true, true])
  reader.socket.terminate()
})

const takeAll = (slots: Slots, most: number) => {
  const key = `token ${tokenId}`
  const releases = Array.from({ length: most }, () => slots.take(key)!)
  expect(slots.take(key)).toBeNull()
  return () => {
    for (const release of releases) release()
  }
}

function areAllFree(slots: Slots, most: number): boolean {
  const releases = Array.from({ length: most }, () => slots.take(`token ${tokenId}`))
  for (const release of releases) release?.()
  return !releases.includes(null)
}

test('limits the reads and the large requests of a caller that are in progress', async () => {
  const url = `http://127.0.0.1:${server.port}`
  const read = async (path: string, as = authorization) => (await fetch(url + path, { headers: { authorization: as } })).status
  const paths = ['/api/inventory', '/api/runs/1/log']
  const release = takeAll(t.api.reads, MAX_READS)
  for (const path of paths) expect(await read(path)).toBe(429)
  expect(await read('/api/inventory', `Bearer ${await t.tokenOf(fixture.operator)}`)).toBe(200)
  release()
  expect(await Promise.all(paths.map((path) => read(path)))).toEqual([200, 200])
  await expect.poll(() => areAllFree(t.api.reads, MAX_READS)).toBe(true)

  const body = JSON.stringify({ query: '{ __typename }'.padEnd(MAX_ANONYMOUS_BODY_BYTES + 1) })
  const send = async () => {
    const headers = { authorization, 'content-type': 'application/json' }
    const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body })
    return { status: response.status, ...((await response.json()) as object) }
  }
  const releaseBodies = takeAll(t.api.largeBodies, MAX_LARGE_BODIES)
  expect(await send()).toMatchObject({
    status: 429,
    errors: [{ extensions: { limit: 'LARGE_BODIES', maximum: MAX_LARGE_BODIES } }],
  })
  releaseBodies()
  expect(await send()).toMatchObject({ status: 200, data: { __typename: 'Query' } })
  await expect.poll(() => areAllFree(t.api.largeBodies, MAX_LARGE_BODIES)).toBe(true)
})
