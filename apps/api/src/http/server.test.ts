import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json as readJson } from 'node:stream/consumers'
import { localStore } from '@muster/core/artifacts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createReverseProxy } from '../../../standalone/src/reverse-proxy.ts'
import { testApi } from '../testing/api.ts'
import { type HttpServer, serveHttp } from './server.ts'

const json = JSON.stringify({ query: '{ __typename }' })
const ofLength = (length: number) => json.padEnd(length)
const chunked = (text: string) => new Blob([text]).stream()

const closers: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

test('/readyz names the unavailable dependency, and the log has the reason', async () => {
  const file = join(tmpdir(), `muster-file-${process.pid}`)
  await writeFile(file, '')
  const t = await testApi({ store: localStore(join(file, 'artifacts')) })
  const server: HttpServer = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
  closers.push(() => rm(file, { recursive: true, force: true }), t.close, server.stop)
  const ready = async () => {
    const response = await fetch(`http://127.0.0.1:${server.port}/readyz`)
    return [response.status, await response.text()]
  }
  const warn = vi.spyOn(t.runtime.log, 'warn')
  expect(await ready()).toEqual([503, 'the artifact store is unavailable; the log of the API has the reason'])
  const reason =
    /^Cannot write to the artifact directory \S+ \(ENOTDIR\). Make it writable, or set ARTIFACT_DIR or NODE_ARTIFACTS_BUCKET/
  expect(warn).toHaveBeenCalledWith({ reason: expect.stringMatching(reason) }, expect.any(String))
  warn.mockRestore()
  await rm(file)
  // Cached for a second.
  await expect.poll(ready, { timeout: 5000 }).toEqual([200, 'ok'])
})

describe('the body of a GraphQL request', () => {
  const ports = { api: 0, proxy: 0 }
  let token: string
  beforeAll(async () => {
    const t = await testApi()
    token = await t.tokenOf((await t.given.tenant()).viewer)
    const server = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
    ports.api = server.port
    const proxy = createReverseProxy({ api: `http://127.0.0.1:${server.port}`, console: 'http://127.0.0.1:9' })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    ports.proxy = (proxy.address() as AddressInfo).port
    closers.push(t.close, server.stop, async () => proxy.close())
  })

  test.each([
    ['is read', () => json, 200, { data: { __typename: 'Query' } }],
    ['is read in chunks', () => chunked(json), 200, { data: { __typename: 'Query' } }],
    ['must not be empty', () => '', 400, failure('BAD_REQUEST')],
    ['must be JSON', () => '{', 400, failure('BAD_REQUEST')],
    ['must be an object', () => '"text"', 400, failure('BAD_REQUEST')],
    ['must not be a list', () => `[${json}]`, 400, failure('BAD_REQUEST')],
    ['has at most 1 MB', () => ofLength(1_000_001), 413, tooLong(1_000_000, 1_000_001)],
    ['has at most 1 MB in chunks', () => chunked(ofLength(1_000_001)), 413, tooLong(1_000_000, expect.any(Number))],
    ['may have 1 MB', () => ofLength(1_000_000), 200, { data: { __typename: 'Query' } }],
    ['may have 25 MB after sign-in', () => ofLength(25_000_000), 200, { data: { __typename: 'Query' } }, true],
    ['has at most 25 MB after sign-in', () => ofLength(25_000_001), 413, tooLong(25_000_000, 25_000_001), true],
    ['has at most 25 MB in chunks', () => chunked(ofLength(25_000_001)), 413, tooLong(25_000_000, expect.any(Number)), true],
  ])('%s', async (_title, body, status, expected, isSignedIn = false) => {
    const headers = { 'content-type': 'application/json', ...(isSignedIn ? { authorization: `Bearer ${token}` } : {}) }
    for (const port of [ports.api, ports.proxy]) {
      const request = { method: 'POST', headers, body: body(), duplex: 'half' } as RequestInit
      const response = await fetch(`http://127.0.0.1:${port}/graphql`, request)
      expect(await response.json()).toMatchObject(expected)
      expect(response.status).toBe(status)
      expect(response.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/)
    }
  })

  const query =
    'query ($input: PlanManifestsInput!) { planManifests(input: $input) { __typename ... on Error { message } ... on InvalidInputError { issues { message } } } }'

  test('of 100 MB is refused before the client has sent it', async () => {
    const start = JSON.stringify({ query, variables: { input: { files: [{ name: 'large.yaml', text: '' }] } } }).slice(0, -7)
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    for (const port of [ports.api, ports.proxy]) {
      const url = `http://127.0.0.1:${port}/graphql`
      // The client sends only the first bytes of what it announces, and waits.
      const request = http.request(url, { method: 'POST', headers: { ...headers, 'content-length': 100_000_000 } })
      request.on('error', () => {})
      const answered = once(request, 'response') as Promise<[http.IncomingMessage]>
      request.write(start)
      const [response] = await answered
      expect([response.statusCode, await readJson(response)]).toMatchObject([413, tooLong(25_000_000, 100_000_000)])
      request.destroy()
    }
  })

  test('of 100 MB in chunks is refused, and the client that is still sending gets the response', async () => {
    const chunk = Buffer.alloc(250_000, 'x')
    /** Sends in chunks until the response ends. */
    const answerOf = async (port: number, agent: http.Agent | false) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
      const request = http.request(`http://127.0.0.1:${port}/graphql`, { method: 'POST', headers, agent })
      const answer = once(request, 'response').then(async ([response]) => [response.statusCode, await readJson(response)])
      const answered = answer.then(() => true)
      for (let sent = 0; sent < 100_000_000; sent += chunk.length)
        if (!request.write(chunk) && (await Promise.race([once(request, 'drain').then(() => false), answered]))) break
      request.on('error', () => {}).destroy()
      return answer
    }
    const keepAlive = new http.Agent({ keepAlive: true })
    // Without an agent, the client asks the server to close the connection; the proxy does that for requests in chunks.
    for (const [port, agent] of [
      [ports.api, keepAlive],
      [ports.api, false],
      [ports.proxy, keepAlive],
      [ports.proxy, false],
    ] as const)
      for (let i = 0; i < 3; i++)
        expect(await answerOf(port, agent)).toMatchObject([413, tooLong(25_000_000, expect.any(Number))])
    keepAlive.destroy()
  })

  test('may have at most 10 million characters of manifests', async () => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    const text = '# no object\n'.repeat(10_000_001 / 12)
    const files = [{ name: 'large.yaml', text: text.padEnd(10_000_001) }]
    const small = await fetch(`http://127.0.0.1:${ports.api}/graphql`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ query, variables: { input: { files } } }),
    })
    expect(await small.json()).toMatchObject({
      data: { planManifests: { issues: [{ message: expect.stringContaining('at most 10 million characters') }] } },
    })
  })
})

function tooLong(maximum: number, actual: unknown) {
  const message = expect.stringContaining(`At most ${maximum} bytes in a request are allowed`)
  return { errors: [{ message, extensions: { code: 'LIMIT_EXCEEDED', limit: 'BODY', maximum, actual } }] }
}

function failure(code: string) {
  return { errors: [{ message: expect.any(String), extensions: { code } }] }
}
