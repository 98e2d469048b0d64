import { rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { localStore } from '@muster/core/artifacts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createReverseProxy } from '../../../standalone/src/reverse-proxy.ts'
import { testApi } from '../testing/api.ts'
import { type HttpServer, serveHttp } from './server.ts'

const closers: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

test('/readyz names the unavailable dependency and the next step', async () => {
  const file = join(tmpdir(), `muster-file-${process.pid}`)
  await writeFile(file, '')
  const t = await testApi({ store: localStore(join(file, 'artifacts')) })
  const server: HttpServer = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
  closers.push(() => rm(file, { recursive: true, force: true }), t.close, server.stop)
  const ready = async () => {
    const response = await fetch(`http://127.0.0.1:${server.port}/readyz`)
    return [response.status, await response.text()]
  }
  expect(await ready()).toEqual([
    503,
    expect.stringMatching(
      /Cannot write to the artifact directory \S+ \(ENOTDIR\). Make it writable, or set ARTIFACT_DIR or NODE_ARTIFACTS_BUCKET/,
    ),
  ])
  await rm(file)
  expect(await ready()).toEqual([200, 'ok'])
})

describe('the body of a GraphQL request', () => {
  const json = JSON.stringify({ query: '{ __typename }' })
  const tooLong = `{"query":"${' '.repeat(25_000_000)}"}`
  const chunked = (text: string) => new Blob([text]).stream()
  const ports = { api: 0, proxy: 0 }
  beforeAll(async () => {
    const t = await testApi()
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
    ['has at most 25 MB', () => tooLong, 413, failure('REQUEST_ENTITY_TOO_LARGE')],
    ['has at most 25 MB in chunks', () => chunked(tooLong), 413, failure('REQUEST_ENTITY_TOO_LARGE')],
  ])('%s', async (_title, body, status, expected) => {
    const headers = { 'content-type': 'application/json' }
    for (const port of [ports.api, ports.proxy]) {
      const request = { method: 'POST', headers, body: body(), duplex: 'half' } as RequestInit
      const response = await fetch(`http://127.0.0.1:${port}/graphql`, request)
      expect(await response.json()).toMatchObject(expected)
      expect(response.status).toBe(status)
      expect(response.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/)
    }
  })
})

function failure(code: string) {
  return { errors: [{ message: expect.any(String), extensions: { code } }] }
}
