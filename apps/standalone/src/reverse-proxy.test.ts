import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createReverseProxy } from './reverse-proxy.ts'

const servers: http.Server[] = []

async function listen(server: http.Server): Promise<string> {
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

let api: string
let proxy: string
let received: http.IncomingMessage[]
let openStream: http.ServerResponse | undefined

beforeEach(async () => {
  received = []
  const apiServer = http.createServer((req, res) => {
    received.push(req)
    if (req.url === '/graphql/stream') {
      openStream = res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write('data: 1\n\n')
    } else req.pipe(res.writeHead(200, { 'Set-COOKIE': ['a=1; HttpOnly', 'b=2'] }))
  })
  apiServer.on('upgrade', (req, socket) => {
    received.push(req)
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n',
    )
    socket.pipe(socket)
  })
  api = await listen(apiServer)
  const consoleServer = http.createServer((req, res) => res.end(`console ${req.url}`))
  proxy = await listen(createReverseProxy({ api, console: await listen(consoleServer) }))
})
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

test('routes API paths to the API and all others to the console', async () => {
  for (const path of ['/', '/nodes?q=/graphql', '/graphqlite', '/apiary', '/agent', '/agent/v10/nodes', '/_next/static/a.js']) {
    expect(await (await fetch(proxy + path)).text()).toBe(`console ${path}`)
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
    await fetch(proxy + path)
    expect(received.at(-1)?.url).toBe(path)
  }
  for (const path of ['/health', '/api/v1/hpc/nodes/register', '/agent/v1/nodes/gpu001/heartbeat']) {
    await fetch(proxy + path, { method: 'POST', body: '{}' })
    expect(received.at(-1)?.url).toBe(path)
  }
})

test('passes bodies, Host and cookies unchanged and replaces forwarded headers', async () => {
  const response = await fetch(`${proxy}/graphql`, {
    method: 'POST',
    body: '{"query":"…"}',
    headers: { 'x-forwarded-for': '6.6.6.6', forwarded: 'for=6.6.6.6' },
  })
  expect(await response.text()).toBe('{"query":"…"}')
  expect(response.headers.getSetCookie()).toEqual(['a=1; HttpOnly', 'b=2'])
  expect(received[0]!.headers).toMatchObject({
    host: new URL(proxy).host,
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
  })
  expect(received[0]!.headers.forwarded).toBeUndefined()
})

test('trusts another proxy only with the secret, and sends it only to the API', async () => {
  const consoleServer = await listen(http.createServer((req, res) => res.end(JSON.stringify(req.headers))))
  const [proxySecret, forwarded] = ['a secret of both proxies', { 'x-forwarded-for': '192.0.2.7', 'x-forwarded-proto': 'https' }]
  const secret = (value: string) => ({ 'x-muster-proxy-secret': value })
  for (const [trustProxy, headers, client] of [
    [true, { ...forwarded, ...secret(proxySecret) }, '192.0.2.7'],
    [true, forwarded, '127.0.0.1'],
    [true, { ...forwarded, ...secret('a secret of nobody') }, '127.0.0.1'],
    [false, { ...forwarded, ...secret(proxySecret) }, '127.0.0.1'],
  ] as const) {
    const url = await listen(createReverseProxy({ api, console: consoleServer }, { trustProxy, proxySecret }))
    await fetch(`${url}/graphql`, { headers })
    expect(received.at(-1)!.headers).toMatchObject({ 'x-forwarded-for': client, ...secret(proxySecret) })
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`)
    await once(socket, 'error')
    expect(received.at(-1)!.headers).toMatchObject({
      upgrade: 'websocket',
      'x-forwarded-for': '127.0.0.1',
      ...secret(proxySecret),
    })
    const page = (await (await fetch(url, { headers })).json()) as object
    expect(page).toMatchObject({ 'x-forwarded-for': client })
    expect(page).not.toHaveProperty('x-muster-proxy-secret')
  }
})

test('streams without buffering and closes the API’s stream when the client disconnects', async () => {
  const abort = new AbortController()
  const reader = (await fetch(`${proxy}/graphql/stream`, { signal: abort.signal }))
    .body!.pipeThrough(new TextDecoderStream())
    .getReader()
  expect((await reader.read()).value).toBe('data: 1\n\n')
  openStream!.write('data: 2\n\n')
  expect((await reader.read()).value).toBe('data: 2\n\n')
  abort.abort()
  await once(openStream!, 'close')
})

test('forwards WebSockets', async () => {
  const socket = net.connect(Number(new URL(proxy).port), '127.0.0.1').setEncoding('utf8')
  socket.write('GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  const [head] = (await once(socket, 'data')) as [string]
  expect(head).toMatch(/^HTTP\/1\.1 101 /)
  socket.write('ping')
  expect(await once(socket, 'data')).toEqual(['ping'])
  socket.destroy()
})

/** Sends bytes and resolves with what arrives until the first empty line. */
async function rawExchange(request: string): Promise<string> {
  const socket = net.connect(Number(new URL(proxy).port), '127.0.0.1').setEncoding('latin1')
  socket.write(request)
  let head = ''
  for await (const chunk of socket) {
    head += chunk
    if (head.includes('\r\n\r\n')) break
  }
  return head
}

/** Request headers that the API received, as `Name: value`. */
const receivedHeaders = () => {
  const { rawHeaders } = received.at(-1)!
  return rawHeaders.flatMap((name, i) => (i % 2 ? [] : [`${name}: ${rawHeaders[i + 1]}`]))
}

test('preserves the case of header names in a WebSocket handshake', async () => {
  const sent = ['Host: x', 'CONNECTION: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: k', 'sEC-wEBsOCKET-pROTOCOL: a, b']
  const head = await rawExchange(`GET /graphql HTTP/1.1\r\n${sent.join('\r\n')}\r\n\r\n`)
  expect(receivedHeaders().slice(0, sent.length)).toEqual(sent)
  expect(head.trim().split('\r\n').slice(1)).toEqual(['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Accept: x'])
})

test('preserves the case of header names in requests and responses', async () => {
  const sent = ['Host: x', 'X-Request-ID: 7', 'ACCEPT: */*', 'Cookie: a=1', 'cOOKIE: b=2']
  const head = await rawExchange(`GET /graphql HTTP/1.1\r\n${sent.join('\r\n')}\r\n\r\n`)
  expect(receivedHeaders()).toEqual(expect.arrayContaining(['Host: x', 'X-Request-ID: 7', 'ACCEPT: */*', 'cOOKIE: a=1; b=2']))
  expect(head).toMatch(/\r\nSet-COOKIE: a=1; HttpOnly\r\nSet-COOKIE: b=2\r\n/)
})

test('retries a GET once when its connection is closed, and no other method', async () => {
  const attempts: (string | undefined)[] = []
  const flaky = await listen(
    http.createServer((req, res) => {
      attempts.push(`${req.method} ${req.headers['x-forwarded-for']}`)
      if (attempts.length % 2) req.socket.destroy()
      else res.end('there')
    }),
  )
  const url = await listen(createReverseProxy({ api: flaky, console: flaky }, { trustProxy: true }))
  expect(await (await fetch(url)).text()).toBe('there')
  expect(attempts).toEqual(['GET 127.0.0.1', 'GET 127.0.0.1'])
  expect((await fetch(url, { method: 'POST', body: 'x' })).status).toBe(503)
  expect(attempts).toHaveLength(3)
})

test('answers 503 in GraphQL’s shape and closes WebSockets while the API is unavailable', async () => {
  servers[0]!.close()
  servers[0]!.closeAllConnections()
  const response = await fetch(`${proxy}/graphql`)
  expect(response.status).toBe(503)
  expect(await response.json()).toEqual({ errors: [{ message: expect.stringContaining('Try again') }] })
  const socket = net.connect(Number(new URL(proxy).port), '127.0.0.1')
  socket.write('GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  await once(socket, 'close')
})

test('sets security headers on every response, and a policy without exceptions on those of the API', async () => {
  for (const path of ['/', '/graphql', '/api/files/1']) {
    const { headers } = await fetch(proxy + path)
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'permissions-policy': expect.stringContaining('camera=()'),
    })
    expect(headers.get('strict-transport-security')).toBeNull()
    const policy = headers.get('content-security-policy')
    if (path === '/') expect(policy).toBeNull()
    else expect(policy).toMatch(/^default-src 'none'; .*sandbox$/)
  }
})

test.each([
  ['https://muster.example.org', 'max-age=31536000'],
  ['http://muster.example.org', null],
  // Other programs use localhost without TLS.
  ['https://localhost:3000', null],
])('HSTS behind %s: %s', async (publicUrl, expected) => {
  const url = await listen(createReverseProxy({ api, console: api }, { publicUrl }))
  expect((await fetch(url)).headers.get('strict-transport-security')).toBe(expected)
})
