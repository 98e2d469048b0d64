import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { Ctx } from '@muster/core/registry'
import { schema as tables } from '@muster/core/registry'
import { insertRun } from '@muster/core/testing'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callerConcurrency } from './concurrency.ts'
import { globalId } from './graphql/shared/ids.ts'
import {
  type Limit,
  MAX_ALIASES,
  MAX_ANONYMOUS_BODY_BYTES,
  MAX_ANONYMOUS_SOCKETS,
  MAX_BODY_BYTES,
  MAX_CALLER_SUBSCRIPTIONS,
  MAX_CONCURRENT,
  MAX_COST,
  MAX_DEPTH,
  MAX_LARGE_BODIES,
  MAX_LIST,
  MAX_OPERATIONS,
  MAX_PAGE,
  MAX_PAGE_BYTES,
  MAX_READS,
  MAX_REJECTIONS,
  MAX_RESPONSE_BYTES,
  MAX_SUBSCRIPTIONS,
  MAX_TOKENS,
} from './limits.ts'
import { testApi } from './testing/api.ts'

const { discoveries, discoveryEvidence, jobRunEvents } = tables

let t: Awaited<ReturnType<typeof testApi>>
let viewer: Ctx
beforeAll(async () => {
  t = await testApi()
  viewer = (await t.given.tenant()).viewer
})
afterAll(() => t?.close())

const errorMessage = async (query: string, variables = {}) => {
  const { errors } = await t.send(viewer, query, variables)
  return errors?.[0]?.message
}

test('limit errors have the code LIMIT_EXCEEDED with limit, maximum and actual value', async () => {
  const limitOf = async (query: string) => (await t.send(viewer, query)).errors?.[0]
  const limitError = (limit: string, maximum: number, actual: number | null) => ({
    message: expect.stringContaining(`At most ${maximum} `),
    extensions: { code: 'LIMIT_EXCEEDED', limit, maximum, actual },
  })
  const deep = `{ nodes { edges { node { ${'runs { edges { node { hosts { node { '.repeat(3)} id ${'} } } } }'.repeat(3)} } } } }`
  expect(await limitOf(deep)).toMatchObject(limitError('DEPTH', 14, expect.any(Number)))
  expect(await limitOf(`{ ${Array.from({ length: 60 }, (_, i) => `a${i}: viewer { name }`).join(' ')} }`)).toMatchObject(
    limitError('ALIASES', 50, expect.any(Number)),
  )
  expect(await limitOf(`{ viewer { ${'name '.repeat(6000)} } }`)).toMatchObject(limitError('TOKENS', 5000, null))
  expect(await limitOf('{ nodes(first: 501) { totalCount edges { node { id } } } }')).toMatchObject(limitError('PAGE', 500, 501))
  expect(await limitOf('{ nodes(last: 501) { edges { node { id credential { id } } } } }')).toMatchObject(
    limitError('PAGE', 500, 501),
  )
  expect(
    await limitOf(
      '{ nodes(first: 500) { edges { node { id runs(first: 50) { edges { node { id hosts(first: 50) { edges { node { name } } } } } } } } } }',
    ),
  ).toMatchObject(limitError('COST', 250_000, expect.any(Number)))
  expect(
    await limitOf(
      '{ nodes(first: 500) { edges { node { id name status accelerators { model health index vendor } groups { name } } } } }',
    ),
  ).toBeUndefined()
})

test('the evaluation of schedules costs much', async () => {
  const previews = (count: number) =>
    `{ ${Array.from({ length: count }, (_, i) => `a${i}: previewSchedule(input: { rule: "0 3 * * *" }) { __typename }`).join(' ')} }`
  const times = (page: string) => `{ schedules${page} { edges { node { nextTimes { dueAt } } } } }`
  expect(await errorMessage(previews(11))).toContain('At most 250000 ')
  expect(await errorMessage(times('(first: 100)'))).toContain('At most 250000 ')
  expect(await errorMessage(previews(9))).toBeUndefined()
  expect(await errorMessage(times(''))).toBeUndefined()
})

test('the guide states the limits', () => {
  const guide = readFileSync(new URL('../../../docs/integrate.md', import.meta.url), 'utf8')
  const section = /^## Limits\n(.*?)^## /ms.exec(guide)![1]!
  const rows = [...section.matchAll(/^\| `([A-Z_]+)` \| ([\d,]+) /gm)]
  const limits: Record<Limit, number> = {
    BODY: MAX_BODY_BYTES,
    DEPTH: MAX_DEPTH,
    ALIASES: MAX_ALIASES,
    TOKENS: MAX_TOKENS,
    COST: MAX_COST,
    PAGE: MAX_PAGE,
    BYTES: MAX_RESPONSE_BYTES,
    OPERATIONS: MAX_OPERATIONS,
    SUBSCRIPTIONS: MAX_SUBSCRIPTIONS,
    CALLER_SUBSCRIPTIONS: MAX_CALLER_SUBSCRIPTIONS,
    LARGE_BODIES: MAX_LARGE_BODIES,
    REJECTIONS: MAX_REJECTIONS,
  }
  expect(Object.fromEntries(rows.map(([, limit, maximum]) => [limit, Number(maximum!.replaceAll(',', ''))]))).toEqual(limits)
  for (const [text, limit] of [
    ['bytes without a sign-in', MAX_ANONYMOUS_BODY_BYTES],
    ['bytes of events', MAX_PAGE_BYTES],
    ['operations of a caller execute at once', MAX_CONCURRENT],
    ['values in a list of a query or subscription', MAX_LIST],
    ['WebSockets of one client network', MAX_ANONYMOUS_SOCKETS],
    ['reads of a caller', MAX_READS],
  ] as const)
    expect(section).toContain(`${limit.toLocaleString('en')} ${text}`)
})

test('a page of events ends before it has more than 1 MB, and says that there is more', async () => {
  const tenant = await t.given.tenant()
  const [node] = await t.given.fleet(tenant.operator)
  const ids = await Promise.all(
    Array.from({ length: 12 }, () => insertRun(tenant.operator, { status: 'SUCCEEDED', nodes: [node!] })),
  )
  const stdout = 'a'.repeat(300_000)
  for (const { id } of ids)
    await t.runtime.db.insert(jobRunEvents).values(
      [1, 2, 3, 4, 5, 6, 7].map((seq) => ({
        jobRunId: id,
        seq: seq + 1000,
        kind: 'output' as const,
        stdout,
        startLine: 1,
        createdAt: new Date(),
      })),
    )
  type Page = {
    pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; endCursor: string }
    edges: { node: { seq: number } }[]
  }
  const page = async (args: string) => {
    const document = `query ($id: ID!) { node(id: $id) { ... on JobRun { events(${args}) {
      pageInfo { hasNextPage hasPreviousPage endCursor } edges { node { seq stdout } } } } } }`
    const { node } = await t.ask<{ node: { events: Page } }>(tenant.viewer, document, { id: globalId('JobRun', ids[0]!.id) })
    const { pageInfo, edges } = node.events
    return { ...pageInfo, seqs: edges.map(({ node }) => node.seq) }
  }
  expect(await page('first: 500, after: "1000"')).toMatchObject({ seqs: [1001, 1002, 1003], hasNextPage: true })
  expect(await page('first: 3, after: "1000"')).toMatchObject({ seqs: [1001, 1002, 1003], hasNextPage: true })
  expect(await page('first: 500, after: "1004"')).toMatchObject({ seqs: [1005, 1006, 1007], hasNextPage: false })
  expect(await page('last: 500')).toMatchObject({ seqs: [1005, 1006, 1007], hasPreviousPage: true, hasNextPage: false })

  const all = '{ jobRuns { edges { node { events(last: 10) { edges { node { stdout } } } } } } }'
  const { data } = await t.send<{ jobRuns: { edges: { node: { events: { edges: object[] } } }[] } }>(tenant.viewer, all)
  expect(JSON.stringify(data).length).toBeGreaterThan(10_000_000)
  const aliases = Array.from(
    { length: 3 },
    (_, i) => `a${i}: ${all.slice(1, -1).replace('jobRuns', `jobRuns(first: ${i + 10})`)}`,
  )
  expect((await t.send(tenant.viewer, `{ ${aliases.join(' ')} }`)).errors![0]).toMatchObject({
    extensions: { code: 'LIMIT_EXCEEDED', limit: 'BYTES', maximum: 20_000_000 },
  })
})

test('the facts and the evidence in a response are limited', async () => {
  const tenant = await t.given.tenant()
  const nodes = await t.given.fleet(tenant.operator, { nodes: 3, with: { facts: { text: 'a'.repeat(9_000_000) } as never } })
  const limited = [{ extensions: { code: 'LIMIT_EXCEEDED', limit: 'BYTES' } }]
  expect((await t.send(tenant.viewer, '{ nodes(first: 2) { edges { node { facts } } } }')).errors).toBeUndefined()
  expect((await t.send(tenant.viewer, '{ nodes { edges { node { facts } } } }')).errors).toMatchObject(limited)
  for (const { id: nodeId } of nodes) {
    const row = { tenantId: tenant.operator.tenantId, nodeId, reason: 'refresh' as const, finishedAt: new Date() }
    const [discovery] = await t.runtime.db.insert(discoveries).values(row).returning()
    await t.runtime.db.insert(discoveryEvidence).values({ discoveryId: discovery!.id, gzip: gzipSync('a'.repeat(9_000_000)) })
  }
  const evidence = (first: number) =>
    t.send(tenant.viewer, `{ nodes(first: ${first}) { edges { node { latestDiscovery { evidence } } } } }`)
  expect((await evidence(2)).errors).toBeUndefined()
  expect((await evidence(3)).errors).toMatchObject(limited)
})

test('operations of one caller wait for each other, up to a limit, and delay nobody else', async () => {
  const [{ viewer: busy }, { viewer: other }] = [await t.given.tenant(), await t.given.tenant()]
  const released = Promise.withResolvers<void>()
  let running = 0
  const count = vi.spyOn(busy.db, '$count').mockImplementation((async () => {
    running++
    await released.promise
    return 1
  }) as never)
  const query = '{ jobTemplates { totalCount } }'
  await Promise.all([t.tokenOf(busy), t.tokenOf(other)])
  const sent = Array.from({ length: MAX_OPERATIONS + 1 }, () => t.send(busy, query))
  expect((await Promise.race(sent)).errors).toMatchObject([
    { extensions: { code: 'LIMIT_EXCEEDED', limit: 'OPERATIONS', maximum: MAX_OPERATIONS, actual: MAX_OPERATIONS + 1 } },
  ])
  expect(running).toBe(MAX_CONCURRENT)
  expect((await t.send(other, '{ viewer { name } }')).errors).toBeUndefined()
  released.resolve()
  expect((await Promise.all(sent)).filter(({ errors }) => errors)).toHaveLength(1)
  count.mockRestore()
  expect((await t.send(busy, query)).errors).toBeUndefined()
})

test('limits the open subscriptions of a caller over all connections, and frees those that end', async () => {
  const plugin = callerConcurrency(2)
  const context = { caller: { actor: { kind: 'user', id: 'u' } }, headers: new Headers() }
  const subscribe = () => {
    const setResultAndStopExecution = vi.fn()
    const hooks = plugin.onSubscribe!({ args: { contextValue: context }, setResultAndStopExecution } as never) as
      | { onSubscribeResult(payload: object): { onEnd(): void } | undefined; onSubscribeError(): void }
      | undefined
    return { hooks, refused: setResultAndStopExecution.mock.calls[0]?.[0] }
  }
  const stream = { result: { [Symbol.asyncIterator]() {} } }
  const first = subscribe().hooks!.onSubscribeResult(stream)!
  subscribe().hooks!.onSubscribeResult(stream)
  expect(subscribe().refused).toMatchObject({
    errors: [{ extensions: { limit: 'CALLER_SUBSCRIPTIONS', maximum: 2, actual: 3 } }],
  })
  first.onEnd()
  const failed = subscribe()
  expect(failed.refused).toBeUndefined()
  failed.hooks!.onSubscribeError()
  const rejected = subscribe()
  expect(rejected.hooks!.onSubscribeResult({ result: { errors: [] } })).toBeUndefined()
  expect(subscribe().refused).toBeUndefined()
})

test('names an invalid variable without its value', async () => {
  const { errors } = await t.send(viewer, 'mutation ($input: RunJobInput!) { runJob(input: $input) { __typename } }', {
    input: { template: 'x', extraVars: { key: 'swordfish' }, forks: 'many', odd: 1 },
  })
  expect(errors).toMatchObject([
    { message: '$input.forks: Int cannot represent non-integer value: "many"', extensions: { code: 'INVALID_INPUT' } },
    { message: '$input: Field "odd" is not defined by type "RunJobInput".', locations: [{ line: 1 }] },
  ])
  expect(await errorMessage('query ($n: Int) { nodes(first: $n) { totalCount } }', { n: '5' })).toMatch(
    /^\$n: Int cannot represent/,
  )
})

test('masks internal errors and logs them with the request ID', async () => {
  const error = vi.spyOn(t.runtime.log, 'error')
  const query = vi.spyOn(viewer.db, '$count').mockRejectedValueOnce(new Error('secret details of the database'))
  const { errors, headers } = await t.send({ ...viewer }, '{ jobTemplates { totalCount } }')
  query.mockRestore()
  expect(errors).toEqual([
    expect.objectContaining({
      message: `Internal error. Request ID: ${headers.get('x-request-id')}.`,
      extensions: { code: 'INTERNAL' },
    }),
  ])
  expect(error.mock.calls[0]![0]).toMatchObject({
    requestId: headers.get('x-request-id'),
    err: { message: 'secret details of the database' },
  })
  error.mockRestore()
})

test('reports an unavailable database as UNAVAILABLE', async () => {
  const connectionError = Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' })
  const query = vi.spyOn(viewer.db, '$count').mockRejectedValueOnce(new Error('Failed query', { cause: connectionError }))
  const { errors } = await t.send(viewer, '{ jobTemplates { totalCount } }')
  query.mockRestore()
  expect(errors![0]).toMatchObject({ message: expect.stringContaining('Try again'), extensions: { code: 'UNAVAILABLE' } })
})

test('accepts a well-formed request ID', async () => {
  const id = async (given: string) =>
    (await t.send({ headers: { 'x-request-id': given } }, '{ viewer { name } }')).headers.get('x-request-id')
  expect(await id('abc-123')).toBe('abc-123')
  expect(await id('a b"c')).toMatch(/^[0-9a-f-]{36}$/)
})

test('allows introspection without authentication', async () => {
  expect((await t.send(null, '{ __schema { queryType { name } } }')).data).toEqual({ __schema: { queryType: { name: 'Query' } } })
})

test('rejects malformed cursors and IDs as INVALID_INPUT', async () => {
  const code = async (query: string) => (await t.send(viewer, query)).errors?.[0]?.extensions.code
  expect(await code('{ nodes(after: "nonsense") { edges { node { id } } } }')).toBe('INVALID_INPUT')
  expect(await code('{ nodes(first: -1) { edges { node { id } } } }')).toBe('INVALID_INPUT')
  expect(await code('{ node(id: "nonsense") { id } }')).toBe('INVALID_INPUT')
  expect(
    (await t.send(viewer, `{ node(id: "${Buffer.from('ComputeNode:not-a-uuid').toString('base64')}") { id } }`)).data,
  ).toEqual({ node: null })
})
