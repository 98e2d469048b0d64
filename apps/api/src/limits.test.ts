import { readFileSync } from 'node:fs'
import type { Ctx } from '@muster/core/registry'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import {
  type Limit,
  MAX_ALIASES,
  MAX_BODY_BYTES,
  MAX_COST,
  MAX_DEPTH,
  MAX_PAGE,
  MAX_SUBSCRIPTIONS,
  MAX_TOKENS,
} from './limits.ts'
import { testApi } from './testing/api.ts'

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

test('the guide states the limits', () => {
  const guide = readFileSync(new URL('../../../docs/integrate.md', import.meta.url), 'utf8')
  const section = /^## Limits\n(.*?)^## /ms.exec(guide)![1]!
  const rows = [...section.matchAll(/^\| `([A-Z]+)` \| ([\d,]+) /gm)]
  const limits: Record<Limit, number> = {
    DEPTH: MAX_DEPTH,
    ALIASES: MAX_ALIASES,
    TOKENS: MAX_TOKENS,
    COST: MAX_COST,
    PAGE: MAX_PAGE,
    SUBSCRIPTIONS: MAX_SUBSCRIPTIONS,
  }
  expect(Object.fromEntries(rows.map(([, limit, maximum]) => [limit, Number(maximum!.replaceAll(',', ''))]))).toEqual(limits)
  expect(section).toContain(`more than ${MAX_BODY_BYTES.toLocaleString('en')} bytes`)
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
  const query = vi.spyOn(t.runtime.db, '$count').mockRejectedValueOnce(new Error('secret details of the database'))
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
  const query = vi.spyOn(t.runtime.db, '$count').mockRejectedValueOnce(new Error('Failed query', { cause: connectionError }))
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
