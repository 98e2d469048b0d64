import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { QueryReport } from '@muster/core/clusters'
import { LOOPBACK } from '@muster/core/testing'
import { parseNodes } from '@muster/slurm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { localSession } from '../../ssh/local-session.ts'
import { createCertificate } from '../../testing/slurmrestd.ts'
import type { QueryContext } from '../run-query.ts'
import { type SlurmrestdEndpoint, socketEndpoint, urlEndpoint } from './endpoint.ts'
import { openSlurmrestd } from './read-slurmrestd.ts'

// As slurmrestd 25.11 answers.
const PING = JSON.stringify({
  pings: [{ hostname: 'ctl', pinged: 'UP', responding: true }],
  meta: { slurm: { release: '25.11.8' } },
  errors: [],
})
const NODES = JSON.stringify({ nodes: [{ name: 'gpu01', state: ['IDLE'], cpus: 64 }], errors: [] })

let folder: string
let respond: RequestListener
const seen: { url: string; headers: Record<string, unknown> }[] = []
const listener: RequestListener = (request, response) => {
  seen.push({ url: request.url!, headers: request.headers })
  respond(request, response)
}
const answer =
  (status: number, body: string): RequestListener =>
  (_request, response) =>
    response.writeHead(status).end(body)
/** Answers a ping, and other requests with `respond`. */
const afterPing =
  (then: RequestListener): RequestListener =>
  (request, response) =>
    request.url!.endsWith('/ping/') ? response.end(PING) : then(request, response)

const { key, cert } = createCertificate()
const overSocket = createServer(listener)
const overTls = createTlsServer({ key, cert }, listener)
let socket: string
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'muster-slurmrestd-'))
  socket = path.join(folder, 'slurmrestd.socket')
  await new Promise<void>((resolve) => overSocket.listen(socket, resolve))
  await new Promise<void>((resolve) => overTls.listen(0, '127.0.0.1', resolve))
})
afterAll(() => {
  for (const server of [overSocket, overTls]) server.close()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => {
  seen.length = 0
  respond = afterPing(answer(200, NODES))
})
afterEach(() => {
  for (const server of [overSocket, overTls]) server.closeAllConnections()
})

/** Reads the nodes. @returns the names, or null for the command instead, and the reports */
async function readNodes(endpoint: SlurmrestdEndpoint, { timeoutMs = 20_000, signal = new AbortController().signal } = {}) {
  const reports: QueryReport[] = []
  const context: QueryContext = {
    ...{ session: localSession(), programFolder: null, version: '25.11.8', signal, timeoutMs },
    onReport: (report) => void reports.push(report),
  }
  const slurmrestd = await openSlurmrestd(endpoint, context)
  const nodes = await slurmrestd.read(context, 'nodes', parseNodes, (list) => `${list.length} nodes`)
  slurmrestd.finish()
  return { names: nodes?.map(({ name }) => name) ?? null, reports }
}
const problem = ({ reports }: { reports: QueryReport[] }) => {
  const { state, detail, hint } = reports.find(({ query }) => query === 'slurmrestd')!
  return `${state} ${detail} ${hint ?? ''}`.trim()
}

describe('over a Unix socket', () => {
  const read = (options = {}) => readNodes(socketEndpoint(socket), options)

  it('reads with the API version of the release, without a token', async () => {
    const { names, reports } = await read()
    expect(names).toEqual(['gpu01'])
    expect(reports).toMatchObject([
      { query: 'nodes', command: 'GET /slurm/v0.0.44/nodes/', state: 'OK', exitCode: null, detail: '1 nodes' },
      { query: 'slurmrestd', command: 'GET /slurm/v0.0.44/ping/', detail: `unix:${socket}: Slurm 25.11.8, API v0.0.44` },
    ])
    expect(JSON.stringify(seen)).not.toContain('x-slurm')
  })

  it('finds another API version', async () => {
    const older = afterPing(answer(200, NODES))
    respond = (request, response) => (request.url!.includes('v0.0.42') ? older(request, response) : response.writeHead(404).end())
    const { names, reports } = await read()
    expect(names).toEqual(['gpu01'])
    expect(reports[0]!.command).toBe('GET /slurm/v0.0.42/nodes/')
    respond = answer(404, '')
    expect(problem(await read())).toContain('it has none of the API versions v0.0.38 to v0.0.45. Commands were used instead.')
  })

  it('names a socket that nobody listens on', async () => {
    const result = await readNodes(socketEndpoint(`${socket}.gone`))
    expect(result.names).toBeNull()
    expect(problem(result)).toMatch(
      /^FAILED unix:.*\.gone: the host does not connect to the socket: .*Check that slurmrestd runs/,
    )
  })

  it.each<[string, RequestListener, RegExp]>([
    [
      'a truncated response',
      (_request, response) => {
        response.writeHead(200, { 'content-length': '5000' }).write(NODES)
        setImmediate(() => response.destroy())
      },
      /closed the connection before the end of its response/,
    ],
    [
      'JSON that ends early',
      answer(200, NODES.slice(0, -9)),
      /the response to \/slurm\/v0\.0\.44\/nodes\/ is not usable: .*not complete/,
    ],
    ['errors of Slurm', answer(500, '{"errors": [{"error": "Unable to contact slurm controller"}]}'), /Unable to contact slurm/],
    ['another status', answer(502, '<html>'), /it responds to \/slurm\/v0\.0\.44\/nodes\/ with 502/],
    ['no HTTP', (_request, response) => void response.socket!.end('what?\n\n'), /does not respond with HTTP/],
  ])('uses the command after %s', async (_name, fault, message) => {
    respond = afterPing(fault)
    const result = await read()
    expect(result.names).toBeNull()
    expect(result.reports.map(({ query }) => query)).toEqual(['slurmrestd'])
    expect(problem(result)).toMatch(message)
  })

  it('ends requests that hang after their time, and when the caller stops', async () => {
    respond = () => {}
    expect(problem(await read({ timeoutMs: 50 }))).toContain('no answer within 1 s. Commands were used instead. slurmrestd hangs')
    respond = afterPing((_request, response) => void response.writeHead(200).write('{'))
    expect(problem(await read({ timeoutMs: 200 }))).toContain('no answer within 1 s')
    const stop = new AbortController()
    respond = () => stop.abort(new Error('The worker stops.'))
    await expect(read({ signal: stop.signal })).rejects.toThrow('The worker stops.')
  })

  it('reads no more of a response than its limit', async () => {
    let written = 0
    respond = (_request, response) => {
      const chunk = Buffer.alloc(1024 * 1024, ' ')
      const write = () => {
        while (!response.destroyed && response.write(chunk)) written++
      }
      response.writeHead(200).on('drain', write)
      write()
    }
    const limits = { timeoutMs: 20_000, maxBytes: 5 * 1024 * 1024, signal: new AbortController().signal }
    const response = await socketEndpoint(socket).get(localSession(), '/slurm/v0.0.44/jobs/', limits)
    expect(response.isCut).toBe(true)
    expect(response.text.length).toBeLessThanOrEqual(limits.maxBytes)
    expect(written).toBeLessThan(50)
  })
})

describe('over HTTPS', () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const token = (exp: number) => `${part({ alg: 'HS256' })}.${part({ exp, sun: 'muster' })}.c2lnbmF0dXJl`
  const valid = token(4e9)
  const endpoint = (password: string, ca: string | null = cert, localTargets = LOOPBACK) =>
    urlEndpoint(
      {
        ...{ credential: 'prod-api', host: '127.0.0.1', port: (overTls.address() as AddressInfo).port },
        username: 'muster',
        password,
      },
      ca,
      localTargets,
    )

  it('sends the user name and the token', async () => {
    expect((await readNodes(endpoint(valid))).names).toEqual(['gpu01'])
    for (const { headers } of seen) expect(headers).toMatchObject({ 'x-slurm-user-name': 'muster', 'x-slurm-user-token': valid })
    expect(seen).toHaveLength(2)
  })

  it.each<[string, RequestListener]>([
    ['slurmrestd', answer(401, 'Authentication failure')],
    ['the controller, 25.11', answer(200, PING.replace('UP', 'DOWN').replace('true', 'false'))],
    ['the controller, 23.11', answer(500, '{"errors": [{"error": "Unable to connect to database", "error_number": 7000}]}')],
  ])('names a token that is rejected by %s', async (_name, rejection) => {
    respond = rejection
    const next =
      '`scontrol token username=muster lifespan=SECONDS` prints a new token: save it as the password of the credential.'
    const wrong = await readNodes(endpoint(valid))
    expect(wrong.names).toBeNull()
    expect(problem(wrong)).toContain(`Check the user name and the token of the credential prod-api. ${next}`)
    const expired = await readNodes(endpoint(token(1_700_000_000)))
    expect(problem(expired)).toContain(`The token of the credential prod-api expired at 2023-11-14T22:13:20.000Z. ${next}`)
    expect(JSON.stringify([wrong, expired])).not.toContain(valid.split('.')[2])
  })

  it('names a token that HTTP does not permit, without sending it', async () => {
    const read = await readNodes(endpoint(`${valid}\u200b`))
    expect(problem(read)).toMatch(/the token of the credential prod-api has characters that HTTP does not permit/)
    expect(seen).toEqual([])
  })

  it('verifies the certificate and the address before it sends the token', async () => {
    expect(problem(await readNodes(endpoint(valid, createCertificate().cert)))).toMatch(/certificate/)
    expect(problem(await readNodes(endpoint(valid, null)))).toMatch(/certificate/)
    expect(problem(await readNodes(endpoint(valid, cert, [])))).toMatch(/is rejected\. 127\.0\.0\.1 is .*LOCAL_TARGETS/)
    expect(seen).toEqual([])
  })
})
