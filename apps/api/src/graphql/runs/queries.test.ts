import { insertRun, insertRuns, type TenantFixture } from '@muster/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApi } from '../../testing/api.ts'
import { globalId } from '../shared/ids.ts'

let api: Awaited<ReturnType<typeof testApi>>
let tenant: TenantFixture
beforeAll(async () => {
  api = await testApi()
})
afterAll(() => api?.close())

const ask = <T>(query: string, variables: object = {}) => api.ask<T>(tenant.viewer, query, variables)

test('numbers runs per tenant and finds them by number', async () => {
  for (const name of ['first', 'second']) {
    tenant = await api.given.tenant()
    await insertRuns(tenant.operator, [{ status: 'SUCCEEDED' }, { status: 'CANCELED' }])
    expect(
      await ask('{ one: jobRun(number: 1) { number status } two: jobRun(number: 2) { status } three: jobRun(number: 3) { id } }'),
      name,
    ).toEqual({ one: { number: 1, status: 'SUCCEEDED' }, two: { status: 'CANCELED' }, three: null })
  }
})

test('lists the runs of a period', async () => {
  tenant = await api.given.tenant()
  const minute = 60
  await insertRuns(
    tenant.operator,
    [30, 20, 10].map((minutes) => ({ status: 'SUCCEEDED' as const, age: minutes * minute })),
  )
  const at = (minutes: number) => new Date(Date.now() - minutes * minute * 1000).toISOString()
  const numbers = async (filter: object) => {
    const { jobRuns } = await ask<{ jobRuns: { totalCount: number; edges: { node: { number: number } }[] } }>(
      'query ($filter: JobRunFilter) { jobRuns(filter: $filter) { totalCount edges { node { number } } } }',
      { filter },
    )
    expect(jobRuns.totalCount).toBe(jobRuns.edges.length)
    return jobRuns.edges.map(({ node }) => node.number)
  }
  expect(await numbers({ createdAfter: at(25) })).toEqual([3, 2])
  expect(await numbers({ createdBefore: at(15) })).toEqual([2, 1])
  expect(await numbers({ createdAfter: at(25), createdBefore: at(15) })).toEqual([2])
})

test('lists the runs that include a node of a limit expression', async () => {
  tenant = await api.given.tenant()
  const [first, second] = await api.given.fleet(tenant.operator, { nodes: 2, with: (i) => ({ tags: [`tag${i}`] }) })
  await insertRun(tenant.operator, { status: 'SUCCEEDED', nodes: [first!] })
  await insertRun(tenant.operator, { status: 'SUCCEEDED', nodes: [second!] })
  const send = (limit: string) =>
    api.send(
      tenant.viewer,
      'query ($filter: JobRunFilter) { jobRuns(filter: $filter) { totalCount edges { node { number } } } }',
      { filter: { limit } },
    )
  const runs = (...numbers: number[]) => ({
    data: { jobRuns: { totalCount: numbers.length, edges: numbers.map((number) => ({ node: { number } })) } },
  })
  expect(await send('all')).toMatchObject(runs(2, 1))
  expect(await send('tag:tag0')).toMatchObject(runs(1))
  expect(await send('gpu*,!tag:tag0')).toMatchObject(runs(2))
  expect(await send('tag:none')).toMatchObject(runs())
  expect((await send('@none')).errors).toMatchObject([
    { extensions: { code: 'INVALID_INPUT', issues: [{ path: 'limit', message: 'there is no group none' }] } },
  ])
})

test('pages the hosts of a run and filters them by result', async () => {
  tenant = await api.given.tenant()
  const nodes = await api.given.fleet(tenant.operator, { nodes: 4 })
  const run = await insertRun(tenant.operator, { status: 'PARTIAL', nodes })
  const { rows } = await api.runtime.db.execute<{ name: string; result: string }>(
    `select name, result from job_run_hosts where job_run_id = '${run.id}' order by name`,
  )
  const failed = rows.filter(({ result }) => result === 'FAILED')
  expect(failed.length).toBeGreaterThan(0)
  expect(failed.length).toBeLessThan(rows.length)
  const { node } = await ask<{ node: { all: object; failed: object; hostCounts: object } }>(
    `query ($id: ID!) { node(id: $id) { ... on JobRun {
      hostCounts { total failed }
      all: hosts(first: 3) { totalCount edges { node { name } } pageInfo { hasNextPage } }
      failed: hosts(result: [FAILED]) { totalCount edges { node { name } } }
    } } }`,
    { id: globalId('JobRun', run.id) },
  )
  const edges = (hosts: { name: string }[]) => hosts.map(({ name }) => ({ node: { name } }))
  expect(node).toEqual({
    hostCounts: { total: 4, failed: failed.length },
    all: { totalCount: 4, edges: edges(rows.slice(0, 3)), pageInfo: { hasNextPage: true } },
    failed: { totalCount: failed.length, edges: edges(failed) },
  })
})

test('pages the events of a log by their seq', async () => {
  tenant = await api.given.tenant()
  const run = await insertRun(tenant.operator, { status: 'SUCCEEDED', lines: 9 })
  type Page = {
    edges: { cursor: string; node: { seq: number; kind: string } }[]
    pageInfo: { hasNextPage: boolean }
    totalCount: number
  }
  const page = async (args: string) => {
    const { node } = await ask<{ node: { events: Page } }>(
      `query ($id: ID!) { node(id: $id) { ... on JobRun { events(${args}) {
        totalCount edges { cursor node { seq kind } } pageInfo { hasNextPage } } } } }`,
      { id: globalId('JobRun', run.id) },
    )
    return { ...node.events, seqs: node.events.edges.map((edge) => edge.node.seq) }
  }
  const first = await page('first: 2')
  expect(first).toMatchObject({ seqs: [1, 2], totalCount: run.lastSeq, pageInfo: { hasNextPage: true } })
  expect(first.edges[0]).toEqual({ cursor: '1', node: { seq: 1, kind: 'TASK_START' } })
  expect((await page(`first: 2, after: "${first.edges[1]!.cursor}"`)).seqs).toEqual([3, 4])
  expect((await page(`first: 500, after: "2"`)).seqs).toHaveLength(run.lastSeq - 2)
  expect((await page('last: 1')).seqs).toEqual([run.lastSeq])
  const { errors } = await api.send(
    tenant.viewer,
    `{ node(id: "${globalId('JobRun', run.id)}") { ... on JobRun { events(after: "x") { totalCount } } } }`,
  )
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: 'after' }] })
})
