import type { Ctx } from '@muster/core/context'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { testApi } from './testing/api.ts'

let t: Awaited<ReturnType<typeof testApi>>
let viewer: Ctx
beforeAll(async () => {
  t = await testApi()
  viewer = (await t.given.tenant()).viewer
})
afterAll(() => t?.close())

const refusal = async (query: string, variables = {}) => {
  const { errors } = await t.send(viewer, query, variables)
  return errors?.[0]?.message
}

test('each limit names itself', async () => {
  const deep = `{ nodes { edges { node { ${'runs { edges { node { hosts { node { '.repeat(3)} id ${'} } } } }'.repeat(3)} } } } }`
  expect(await refusal(deep)).toMatch(/depth limit of 14/i)
  expect(await refusal(`{ ${Array.from({ length: 60 }, (_, i) => `a${i}: viewer { name }`).join(' ')} }`)).toMatch(
    /alias.* limit of 50|aliases limit/i,
  )
  expect(await refusal(`{ viewer { ${'name '.repeat(6000)} } }`)).toMatch(/token limit of 5000/i)
  expect(await refusal('{ nodes(first: 501) { totalCount edges { node { id } } } }')).toMatch(
    'at most 500 objects; 501 were asked for',
  )
  expect(await refusal('{ nodes(last: 501) { edges { node { id credential { id } } } } }')).toMatch('at most 500')
  expect(
    await refusal(
      '{ nodes(first: 500) { edges { node { id runs(first: 50) { edges { node { id hosts { name ok changed } } } } } } } }',
    ),
  ).toMatch(/too costly: it can resolve \d+ fields, the limit \(complexity\) is 250000/)
  expect(
    await refusal(
      '{ nodes(first: 500) { edges { node { id name status accelerators { model health index vendor } groups { name } } } } }',
    ),
  ).toBeUndefined()
})

test('a wrong variable is named, without its value', async () => {
  const { errors } = await t.send(viewer, 'mutation ($input: RunJobInput!) { runJob(input: $input) { __typename } }', {
    input: { template: 'x', extraVars: { key: 'swordfish' }, forks: 'many', odd: 1 },
  })
  expect(errors).toMatchObject([
    { message: '$input.forks: Int cannot represent non-integer value: "many"', extensions: { code: 'INVALID_INPUT' } },
    { message: '$input: Field "odd" is not defined by type "RunJobInput".', locations: [{ line: 1 }] },
  ])
  expect(await refusal('query ($n: Int) { nodes(first: $n) { totalCount } }', { n: '5' })).toMatch(/^\$n: Int cannot represent/)
})

test('a bug is masked, and its request id stands in the log', async () => {
  const error = vi.spyOn(t.runtime.log, 'error')
  const query = vi.spyOn(t.runtime.db, '$count').mockRejectedValueOnce(new Error('secret details of the database'))
  const { errors, headers } = await t.send({ ...viewer }, '{ jobTemplates { totalCount } }')
  query.mockRestore()
  expect(errors).toEqual([
    expect.objectContaining({
      message: `Something went wrong here; request id ${headers.get('x-request-id')}.`,
      extensions: { code: 'INTERNAL' },
    }),
  ])
  expect(error.mock.calls[0]![0]).toMatchObject({
    requestId: headers.get('x-request-id'),
    err: { message: 'secret details of the database' },
  })
  error.mockRestore()
})

test('a database that is away is said to be so', async () => {
  const away = Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' })
  const query = vi.spyOn(t.runtime.db, '$count').mockRejectedValueOnce(new Error('Failed query', { cause: away }))
  const { errors } = await t.send(viewer, '{ jobTemplates { totalCount } }')
  query.mockRestore()
  expect(errors![0]).toMatchObject({ message: expect.stringContaining('try again'), extensions: { code: 'UNAVAILABLE' } })
})

test('a request id is taken over if it is a sensible one', async () => {
  const id = async (given: string) =>
    (await t.send({ headers: { 'x-request-id': given } }, '{ viewer { name } }')).headers.get('x-request-id')
  expect(await id('abc-123')).toBe('abc-123')
  expect(await id('a b"c')).toMatch(/^[0-9a-f-]{36}$/)
})

test('the schema is for those who are signed in', async () => {
  const introspection = '{ __schema { queryType { name } } }'
  expect((await t.send(null, introspection)).errors![0]!.extensions.code).toBe('UNAUTHENTICATED')
  expect(
    (await t.send(null, 'query { ...F } fragment F on Query { __type(name: "Query") { name } }')).errors![0]!.extensions.code,
  ).toBe('UNAUTHENTICATED')
  expect((await t.send(viewer, introspection)).data).toEqual({ __schema: { queryType: { name: 'Query' } } })
})

test('cursors and ids that mean nothing are wrong input, not bugs', async () => {
  const code = async (query: string) => (await t.send(viewer, query)).errors?.[0]?.extensions.code
  expect(await code('{ nodes(after: "nonsense") { edges { node { id } } } }')).toBe('INVALID_INPUT')
  expect(await code('{ nodes(first: -1) { edges { node { id } } } }')).toBe('INVALID_INPUT')
  expect(await code('{ node(id: "nonsense") { id } }')).toBe('INVALID_INPUT')
  expect(
    (await t.send(viewer, `{ node(id: "${Buffer.from('ComputeNode:not-a-uuid').toString('base64')}") { id } }`)).data,
  ).toEqual({ node: null })
})
