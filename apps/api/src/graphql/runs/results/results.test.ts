import { claimJobRun } from '@muster/core/run-queue'
import { appendJobRunEvents, finishJobRun, type HostResult, runJob, runMatrices } from '@muster/core/runs'
import type { TenantFixture } from '@muster/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApi } from '../../../testing/api.ts'
import { countStatements } from '../../../testing/count-statements.ts'
import { globalId } from '../../shared/ids.ts'

let t: Awaited<ReturnType<typeof testApi>>
let fixture: TenantFixture
beforeAll(async () => {
  t = await testApi()
  fixture = await t.given.tenant()
  const { id: credentialId } = await t.given.credential(fixture.admin, 'SSH_KEY')
  await t.given.fleet(fixture.operator, { nodes: 3, with: { credentialId } })
  await t.runtime.db.execute(`update job_templates set is_read_only = false where name = 'collect_facts'`)
})
afterAll(() => t?.close())

const start = (input: object = {}) => runJob(fixture.operator, { template: 'collect_facts', limit: 'gpu[001-002]', ...input })
const claim = async (id: string) => (await claimJobRun(fixture.worker, { id, workerId: 'w' }))!
const finish = async (id: string, results: HostResult[]) => {
  const { token, hosts } = await claim(id)
  await finishJobRun(fixture.worker, {
    ...{ id, token, endCause: 'exit', exitCode: 2 },
    hosts: hosts.map(({ name }, i) => ({
      ...{ name, ok: 1, changed: 0, failed: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 },
      ...{
        result: results[i]!,
        currentTask: null,
        currentTaskAt: null,
        message: results[i] === 'FAILED' ? `${name} is full` : null,
      },
    })),
  })
}
const run = (id: string) => globalId('JobRun', id)

test('a waiting run lists the blocking runs, and a node its lock', async () => {
  const first = await start()
  const { token } = await claim(first.id)
  const second = await start({ limit: 'gpu[002-003]' })
  expect(await claimJobRun(fixture.worker, { id: second.id, workerId: 'w' })).toBeNull()
  const asked = `{ run: node(id: "${run(second.id)}") { ... on JobRun { status waitingSince waitingFor { run { id createdBy { name } } count hostlist acquiredAt } } }
    first: node(id: "${run(first.id)}") { ... on JobRun { waitingFor { hostlist } } }
    locked: computeNode(name: "gpu001") { lock { run { id createdBy { name } } acquiredAt expiresAt } releaseLockBlockedReason }
    free: computeNode(name: "gpu003") { lock { expiresAt } releaseLockBlockedReason } }`
  const createdBy = { name: fixture.operator.actor.name }
  expect(await t.ask(fixture.admin, asked)).toMatchObject({
    run: {
      status: 'PENDING',
      waitingSince: expect.any(String),
      waitingFor: [{ run: { id: run(first.id), createdBy }, count: 1, hostlist: 'gpu002', acquiredAt: expect.any(String) }],
    },
    first: { waitingFor: [] },
    locked: { lock: { run: { id: run(first.id), createdBy }, expiresAt: expect.any(String) }, releaseLockBlockedReason: null },
    free: { lock: null, releaseLockBlockedReason: 'No run has locked the node.' },
  })
  const locks = `{ nodes(filter: { hostlist: "gpu[001-002]" }) { edges { node { lock { run { id status templateName } } } } } }`
  await t.ask(fixture.admin, locks)
  const { result, count } = await countStatements(t, () => t.ask<object>(fixture.admin, locks))
  const lock = { run: { id: run(first.id), status: 'RUNNING', templateName: 'collect_facts' } }
  expect(result).toEqual({ nodes: { edges: [{ node: { lock } }, { node: { lock } }] } })
  // One statement each for nodes, locks and runs.
  expect(count).toBeLessThanOrEqual(3)
  const release = (as: TenantFixture['owner']) =>
    t.ask<{ it: { __typename: string } }>(
      as,
      `mutation ($ids: [ID!]!) { it: releaseNodeLocks(input: { nodeIds: $ids, reason: "hangs" }) { __typename ... on ReleaseNodeLocksPayload { nodes { name lock { expiresAt } } } } }`,
      { ids: [globalId('ComputeNode', nodeIdOf('gpu002'))] },
    )
  const nodes = await t.runtime.db.query.computeNodes.findMany({ where: { tenantId: fixture.tenant.id } })
  const nodeIdOf = (name: string) => nodes.find((node) => node.name === name)!.id
  expect((await release(fixture.operator)).it.__typename).toBe('ForbiddenError')
  expect((await release(fixture.admin)).it).toEqual({
    __typename: 'ReleaseNodeLocksPayload',
    nodes: [{ name: 'gpu002', lock: null }],
  })
  await finishJobRun(fixture.worker, { id: first.id, token, hosts: [], endCause: 'exit', exitCode: 0 })
  await finish(second.id, ['OK', 'OK'])
})

test('links a retry to its parent, compares runs and groups failures', async () => {
  const before = await start()
  await finish(before.id, ['OK', 'OK'])
  const parent = await start({ serial: '1,50%', maxFailPercentage: 10, jobTags: ['a'], skipTags: ['b'] })
  await finish(parent.id, ['FAILED', 'FAILED'])
  const retry = `mutation ($input: RetryJobRunInput!) { it: retryJobRun(input: $input) {
    __typename ... on RetryJobRunPayload { run { id attempt hostCounts { total } serial maxFailPercentage jobTags skipTags parent { id retries { id attempt } } } } ... on Error { message } } }`
  const again = await t.ask<{ it: { run: { id: string } } }>(fixture.operator, retry, {
    input: { id: run(parent.id), hosts: 'FAILED' },
  })
  const settings = { serial: '1,50%', maxFailPercentage: 10, jobTags: ['a'], skipTags: ['b'] }
  const { id } = again.it.run
  expect(again.it.run).toMatchObject({
    ...settings,
    attempt: 2,
    hostCounts: { total: 2 },
    parent: { id: run(parent.id), retries: [{ id, attempt: 2 }] },
  })
  expect(await t.ask(fixture.operator, retry, { input: { id: run(before.id) } })).toMatchObject({
    it: { __typename: 'ConflictError', message: expect.stringContaining('All hosts of the run succeeded.') },
  })
  const seen = `query ($id: ID!) { node(id: $id) { ... on JobRun { retryBlockedReason hosts { edges { node { failureSignature } } }
      compareWithPrevious { previous { id } newlyFailing { count hostlist } fixed { count hostlist } stillFailing { count } } } }
    failureSignatures(filter: { runId: $id }) { totalCount edges { node { count runCount hostCount hostlist message lastRun { id } } } } }`
  const result = await t.ask<{ node: { hosts: { edges: { node: { failureSignature: string } }[] } } }>(fixture.viewer, seen, {
    id: run(parent.id),
  })
  expect(result).toMatchObject({
    node: {
      retryBlockedReason: expect.stringContaining('operator'),
      compareWithPrevious: {
        previous: { id: run(before.id) },
        newlyFailing: { count: 2, hostlist: 'gpu[001-002]' },
        fixed: { count: 0, hostlist: '' },
        stillFailing: { count: 0 },
      },
    },
    failureSignatures: {
      totalCount: 1,
      edges: [{ node: { count: 2, runCount: 1, hostCount: 2, hostlist: 'gpu[001-002]', lastRun: { id: run(parent.id) } } }],
    },
  })
  expect(new Set(result.node.hosts.edges.map(({ node }) => node.failureSignature)).size).toBe(1)
})

test('a thousand hosts with fifty tasks are fifty rows', async () => {
  const one = await start({ limit: 'gpu003' })
  const { token } = await claim(one.id)
  const names = Array.from({ length: 1000 }, (_, i) => `gpu${String(i).padStart(4, '0')}`)
  for (let task = 0; task < 50; task++)
    await appendJobRunEvents(fixture.worker, {
      ...{ id: one.id, token },
      events: names.map((host) => ({
        kind: 'ok',
        host,
        task: `t${task}`,
        taskUuid: `${task}`,
        play: 'p',
        createdAt: new Date(),
      })),
    })
  expect((await runMatrices(fixture.viewer, [one.id])).get(one.id)).toHaveLength(50)
  const { node } = await t.ask<{ node: { matrix: { totalCount: number; edges: { node: unknown }[] } } }>(
    fixture.viewer,
    `query ($id: ID!) { node(id: $id) { ... on JobRun { matrix(first: 20) { totalCount edges { node { task cells { result count hostlist } } } } } } }`,
    { id: run(one.id) },
  )
  expect(node.matrix.totalCount).toBe(50)
  expect(node.matrix.edges).toHaveLength(20)
  expect(node.matrix.edges[0]!.node).toEqual({ task: 't0', cells: [{ result: 'OK', count: 1000, hostlist: 'gpu[0000-0999]' }] })
})
