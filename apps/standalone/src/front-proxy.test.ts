import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFront } from './front-proxy.ts'

const servers: http.Server[] = []

async function listen(server: http.Server): Promise<string> {
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

let api: string
let front: string
let seen: http.IncomingMessage[]
let openStream: http.ServerResponse | undefined

beforeEach(async () => {
  seen = []
  const apiServer = http.createServer((req, res) => {
    seen.push(req)
    if (req.url === '/graphql/stream') {
      openStream = res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write('data: 1\n\n')
    } else req.pipe(res.writeHead(200, { 'set-cookie': ['a=1; HttpOnly', 'b=2'] }))
  })
  apiServer.on('upgrade', (_req, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    socket.pipe(socket)
  })
  api = await listen(apiServer)
  const consoleServer = http.createServer((req, res) => res.end(`console ${req.url}`))
  front = await listen(createFront({ api, console: await listen(consoleServer) }))
})
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

test('the API has its paths and the console all others', async () => {
  for (const path of ['/', '/nodes?q=/graphql', '/graphqlite', '/apiary', '/agent', '/agent/v10/nodes', '/_next/static/a.js']) {
    expect(await (await fetch(front + path)).text()).toBe(`console ${path}`)
  }
  for (const path of [
    '/graphql',
    '/graphql?query={me{id}}',
    '/api/auth/sign-in/email',
    '/healthz',
    '/readyz',
    '/metrics',
    '/metrics/nodes',
    '/sd/targets',
  ]) {
    await fetch(front + path)
    expect(seen.at(-1)?.url).toBe(path)
  }
  for (const path of ['/health', '/api/v1/hpc/nodes/register', '/agent/v1/nodes/gpu001/heartbeat']) {
    await fetch(front + path, { method: 'POST', body: '{}' })
    expect(seen.at(-1)?.url).toBe(path)
  }
})

test('passes bodies, Host and cookies as they are, and says itself who the client is', async () => {
  const response = await fetch(`${front}/graphql`, {
    method: 'POST',
    body: '{"query":"…"}',
    headers: { 'x-forwarded-for': '6.6.6.6', forwarded: 'for=6.6.6.6' },
  })
  expect(await response.text()).toBe('{"query":"…"}')
  expect(response.headers.getSetCookie()).toEqual(['a=1; HttpOnly', 'b=2'])
  expect(seen[0]!.headers).toMatchObject({
    host: new URL(front).host,
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
  })
  expect(seen[0]!.headers.forwarded).toBeUndefined()
})

test('a stream arrives piece by piece, and its end at the client reaches the API', async () => {
  const abort = new AbortController()
  const reader = (await fetch(`${front}/graphql/stream`, { signal: abort.signal }))
    .body!.pipeThrough(new TextDecoderStream())
    .getReader()
  expect((await reader.read()).value).toBe('data: 1\n\n')
  openStream!.write('data: 2\n\n')
  expect((await reader.read()).value).toBe('data: 2\n\n')
  abort.abort()
  await once(openStream!, 'close')
})

test('a WebSocket passes through', async () => {
  const socket = net.connect(Number(new URL(front).port), '127.0.0.1').setEncoding('utf8')
  socket.write('GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  const [head] = (await once(socket, 'data')) as [string]
  expect(head).toMatch(/^HTTP\/1\.1 101 /)
  socket.write('ping')
  expect(await once(socket, 'data')).toEqual(['ping'])
  socket.destroy()
})

test('what only reads is asked for once more when its connection ends, what changes something is not', async () => {
  const asked: (string | undefined)[] = []
  const flaky = await listen(
    http.createServer((req, res) => {
      asked.push(`${req.method} ${req.headers['x-forwarded-for']}`)
      if (asked.length % 2) req.socket.destroy()
      else res.end('there')
    }),
  )
  const url = await listen(createFront({ api: flaky, console: flaky }, { trustProxy: true }))
  expect(await (await fetch(url)).text()).toBe('there')
  expect(asked).toEqual(['GET 127.0.0.1', 'GET 127.0.0.1'])
  expect((await fetch(url, { method: 'POST', body: 'x' })).status).toBe(503)
  expect(asked).toHaveLength(3)
})

test('an API that is away is a 503 in GraphQL’s shape, and a closed WebSocket', async () => {
  servers[0]!.close()
  servers[0]!.closeAllConnections()
  const response = await fetch(`${front}/graphql`)
  expect(response.status).toBe(503)
  expect(await response.json()).toEqual({ errors: [{ message: expect.stringContaining('Try again') }] })
  const socket = net.connect(Number(new URL(front).port), '127.0.0.1')
  socket.write('GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  await once(socket, 'close')
})
