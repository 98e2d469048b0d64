import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { auditEntries } from '../../audit/index.ts'
import { Conflict, Forbidden, InvalidInput, NotFound } from '../../kernel/errors.ts'
import { computeNodes, purgeNode } from '../../nodes/index.ts'
import type { ComputeNode } from '../../nodes/tables.ts'
import { claimJobRun } from '../../run-queue/index.ts'
import { nodeLocks } from '../../run-queue/tables.ts'
import type { TenantFixture } from '../../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { appendJobRunEvents, type NewJobRunEvent } from '../events/append-job-run-events.ts'
import { finishJobRun } from '../lifecycle/finish-job-run.ts'
import type { HostState } from '../lifecycle/renew-claim.ts'
import { retryJobRun } from '../lifecycle/retry-job-run.ts'
import { runJob } from '../lifecycle/run-job.ts'
import { retryBlockedReason } from '../policy.ts'
import { type HostResult, type JobRun, jobRunHosts, jobRuns } from '../tables.ts'
import { compareWithPrevious } from './compare-with-previous.ts'
import { failureSignature } from './failure-signature.ts'
import { failureSignatures } from './failure-signatures.ts'
import { runMatrices } from './run-matrices.ts'

let t: TestRuntime
let ours: TenantFixture
let theirs: TenantFixture
let nodes: ComputeNode[]
const db = () => t.runtime.db
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
  theirs = await t.given.tenant()
  const { id: credentialId } = await t.given.credential(ours.admin, 'SSH_KEY')
  nodes = await t.given.fleet(ours.admin, { nodes: 6, with: { credentialId } })
})
afterAll(() => t.close())
beforeEach(() => db().delete(jobRuns))

const MESSAGES: Partial<Record<HostResult, string>> = { FAILED: 'disk full', UNREACHABLE: 'Connection timed out' }
const state = (name: string, result: HostResult, message = MESSAGES[result] ?? null): HostState => ({
  ...{ name, ok: 1, changed: 0, failed: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 },
  ...{ result, message, currentTask: null, currentTaskAt: null },
})
/** A finished run with these results for its hosts, from gpu001 on. */
const finished = async (results: HostResult[], input: object = {}, messages: (string | null)[] = []): Promise<JobRun> => {
  const limit = `gpu[001-${String(results.length).padStart(3, '0')}]`
  const { id } = await runJob(ours.operator, { template: 'connectivity_check', limit, ...input })
  return finish(id, results, messages)
}
const finish = async (id: string, results: HostResult[], messages: (string | null)[] = []): Promise<JobRun> => {
  const { token, hosts } = (await claimJobRun(ours.worker, { id, workerId: 'w1' }))!
  const states = hosts.map((host, i) => state(host.name, results[i]!, messages[i] ?? undefined))
  return finishJobRun(ours.worker, { id, token, hosts: states, endCause: 'exit', exitCode: 2 })
}
const hostsOf = async ({ id }: { id: string }) =>
  (await db().select().from(jobRunHosts).where(eq(jobRunHosts.jobRunId, id)).orderBy(jobRunHosts.name)).map((host) => host.name)

describe('retryJobRun', () => {
  const settings = { extraVars: { a: 1 }, serial: 1, maxFailPercentage: 30, forks: 3, jobTags: ['x'], reason: 'first' }

  test.each([
    [['FAILED' as const], ['gpu002', 'gpu004']],
    [['UNREACHABLE' as const], ['gpu003']],
    [undefined, ['gpu002', 'gpu003', 'gpu004']],
    [['NOT_RUN' as const], ['gpu005']],
    [
      ['UNREACHABLE' as const, 'NOT_RUN' as const],
      ['gpu003', 'gpu005'],
    ],
  ])('on the hosts that are %s, as the first was started, linked to it', async (hosts, names) => {
    // The last host is not reached, because an earlier batch failed.
    const parent = await finished(['OK', 'FAILED', 'UNREACHABLE', 'FAILED', 'PENDING'], settings)
    expect(retryBlockedReason(ours.operator.actor, parent)).toBeNull()
    const run = await retryJobRun(ours.operator, { id: parent.id, hosts, reason: 'again' })
    expect(run).toMatchObject({ parentRunId: parent.id, attempt: 2, status: 'PENDING', reason: 'again', limit: null })
    expect(run).toMatchObject({ extraVars: { a: 1 }, serial: '1', maxFailPercentage: 30, forks: 3, jobTags: ['x'] })
    expect(await hostsOf(run)).toEqual(names)
    const [entry] = await db().select().from(auditEntries).where(eq(auditEntries.objectId, run.id))
    expect(entry).toMatchObject({ action: 'job_run.retry', details: { parent: parent.id, hosts: names.length } })
    expect(await retryJobRun(ours.operator, { id: (await finish(run.id, ['FAILED', 'FAILED', 'FAILED'])).id })).toMatchObject({
      parentRunId: run.id,
      attempt: 3,
    })
  })

  test('accepts chosen hosts, but only hosts of the run', async () => {
    const parent = await finished(['OK', 'FAILED'])
    const run = await retryJobRun(ours.operator, { id: parent.id, nodeIds: [nodes[0]!.id] })
    expect(await hostsOf(run)).toEqual(['gpu001'])
    await expect(retryJobRun(ours.operator, { id: parent.id, nodeIds: [nodes[5]!.id] })).rejects.toBeInstanceOf(InvalidInput)
  })

  test('the same key returns the same retry, also concurrently', async () => {
    const parent = await finished(['FAILED'])
    const repeated = { id: parent.id, idempotencyKey: 'r1' }
    const runs = await Promise.all([1, 2, 3].map(() => retryJobRun(ours.operator, repeated)))
    expect(new Set(runs.map((run) => run.id)).size).toBe(1)
    const other = await finished(['FAILED'])
    await expect(retryJobRun(ours.operator, { ...repeated, id: other.id })).rejects.toBeInstanceOf(Conflict)
  })

  test('rejects unfinished or successful runs, runs without nodes, viewers and other tenants', async () => {
    const open = await runJob(ours.operator, { template: 'connectivity_check', limit: 'gpu001' })
    await expect(retryJobRun(ours.operator, { id: open.id })).rejects.toThrow(/has not ended: PENDING/)
    const well = await finished(['OK', 'CHANGED'])
    await expect(retryJobRun(ours.operator, { id: well.id })).rejects.toThrow(/All hosts of the run succeeded/)
    const parent = await finished(['OK', 'FAILED'])
    await expect(retryJobRun(ours.operator, { id: parent.id, hosts: ['UNREACHABLE'] })).rejects.toThrow(/was unreachable/)
    await expect(retryJobRun(ours.operator, { id: parent.id, hosts: [] })).rejects.toBeInstanceOf(InvalidInput)
    const rest = await finished(['OK', 'PENDING'])
    await expect(retryJobRun(ours.operator, { id: rest.id })).rejects.toThrow(/choose those that were not run/)
    await expect(retryJobRun(ours.viewer, { id: parent.id })).rejects.toBeInstanceOf(Forbidden)
    await expect(retryJobRun(theirs.owner, { id: parent.id })).rejects.toBeInstanceOf(NotFound)
    await db().update(computeNodes).set({ maintenanceAt: new Date() }).where(eq(computeNodes.id, nodes[1]!.id))
    await expect(retryJobRun(ours.operator, { id: parent.id })).rejects.toThrow(/gpu002: in maintenance/)
    await db().update(computeNodes).set({ maintenanceAt: null }).where(eq(computeNodes.id, nodes[1]!.id))
  })
})

describe('failure signatures', () => {
  test.each([
    ['gpu001: no space left on /dev/nvme0n1p2 (12.5 of 480 GiB)', 'gpu002: no space left on /dev/sda1 (3 of 96 GiB)'],
    [
      'Failed to connect to the host via ssh: connect to host 10.0.0.1 port 22',
      'Failed to connect to the host via ssh: connect to host 10.9.8.7 port 2222',
    ],
    ['connect to gpu001.cluster.example: fe80::1ff:fe23:4567:890a rejected', 'connect to gpu002.cluster.example: ::1:2 rejected'],
    [
      'commit 3f2a9c11d0 from https://a.example/x at 2026-01-02T03:04:05Z',
      'commit 99aabb7700 from https://b.example/y?z at 2027-11-12 13:14:15',
    ],
    ['Xid 79, pid 0x1f: GPU has fallen off the bus', 'Xid  31, pid 0xAB: gpu has fallen off the bus\n'],
  ])('%s is the same as %s', (first, second) => {
    expect(failureSignature(first, ['gpu001'])).toBe(failureSignature(second, ['gpu002']))
  })

  test('different words are a different failure', () => {
    const messages = ['disk full', 'disk fuller', 'no package nvidia-driver', 'no package cuda', 'GPU has fallen off the bus']
    expect(new Set(messages.map((message) => failureSignature(message, ['gpu001']))).size).toBe(messages.length)
  })

  test('are counted across hosts and runs of the tenant, most frequent first', async () => {
    const full = (host: string) => `${host}: no space left on /dev/sd${host.at(-1)}`
    const one = await finished(['FAILED', 'FAILED', 'UNREACHABLE'], {}, [full('gpu001'), full('gpu002')])
    const two = await finished(['FAILED', 'OK'], {}, [full('gpu001')])
    expect(await failureSignatures(ours.viewer, {}, { limit: 10 })).toMatchObject([
      { count: 3, runs: 2, hosts: ['gpu001', 'gpu002'], lastRunId: two.id, message: full('gpu001') },
      { count: 1, runs: 1, hosts: ['gpu003'], lastRunId: one.id, message: 'Connection timed out' },
    ])
    expect(await failureSignatures(ours.viewer, { runId: two.id }, { limit: 10 })).toMatchObject([{ count: 1 }])
    expect(await failureSignatures(ours.viewer, { createdAfter: new Date(Date.now() + 60_000) }, { limit: 10 })).toEqual([])
    expect(await failureSignatures(theirs.owner, {}, { limit: 10 })).toEqual([])
  })
})

describe('compareWithPrevious', () => {
  const comparisonOf = async ({ id }: JobRun) => (await compareWithPrevious(ours.viewer, [id])).get(id)

  test('compares host by host with the last run of the same limit', async () => {
    const first = await finished(['OK', 'FAILED', 'FAILED', 'CHANGED'])
    await finished(['FAILED'])
    const run = await finished(['UNREACHABLE', 'OK', 'FAILED', 'CHANGED'])
    expect(await comparisonOf(run)).toMatchObject({
      previousId: first.id,
      newlyFailing: ['gpu001'],
      fixed: ['gpu002'],
      stillFailing: ['gpu003'],
      changedBefore: 1,
      changedNow: 1,
      added: [],
      missing: [],
    })
  })

  test('otherwise compares with the last run that shares a host; a retry with its parent', async () => {
    expect(await comparisonOf(await finished(['OK']))).toBeUndefined()
    await finished(['OK', 'OK', 'OK', 'OK'], { template: 'collect_facts' })
    const parent = await finished(['OK', 'FAILED', 'UNREACHABLE'])
    await finished(['OK'], { limit: 'gpu006' })
    const { id } = await retryJobRun(ours.operator, { id: parent.id })
    const run = await finish(id, ['OK', 'UNREACHABLE'])
    expect(await comparisonOf(run)).toMatchObject({
      previousId: parent.id,
      newlyFailing: [],
      fixed: ['gpu002'],
      stillFailing: ['gpu003'],
      missing: ['gpu001'],
    })
  })
})

describe('runMatrices', () => {
  const event = (kind: string, task: string, host: string, more: Partial<NewJobRunEvent> = {}): NewJobRunEvent => ({
    ...{ kind, task, host, taskUuid: task, play: 'p', action: 'command', durationMs: 10, createdAt: new Date() },
    ...more,
  })
  const matrixOf = async (events: NewJobRunEvent[]) => {
    const { id } = await runJob(ours.operator, { template: 'connectivity_check', limit: 'gpu[001-003]' })
    const { token } = (await claimJobRun(ours.worker, { id, workerId: 'w1' }))!
    await appendJobRunEvents(ours.worker, { id, token, events })
    return (await runMatrices(ours.viewer, [id]))
      .get(id)!
      .map(({ task, cells }) => [
        task,
        ...cells.map((cell) => [cell.result, cell.hosts.join(), cell.message ?? (cell.isIgnored ? 'ignored' : null)]),
      ])
  }

  test('groups hosts by result and lists tasks in start order', async () => {
    const failed = (host: string, dev: string) =>
      event('failed', 'write', host, { result: { msg: `non-zero return code`, stderr: `x\n${host}: no space on /dev/${dev}` } })
    const ignored = { result: { msg: 'not there', _muster_ignored: true } }
    expect(
      await matrixOf([
        event('ok', 'look', 'gpu002'),
        event('ok', 'look', 'gpu001'),
        event('failed', 'look', 'gpu003', ignored),
        { kind: 'output', stdout: 'x', createdAt: new Date() },
        failed('gpu002', 'sda'),
        failed('gpu003', 'nvme0n1'),
        event('ok', 'write', 'gpu001', { isChanged: true }),
        event('item_ok', 'list', 'gpu001'),
        event('skipped', 'list', 'gpu001'),
      ]),
    ).toEqual([
      ['look', ['OK', 'gpu002,gpu001', null], ['FAILED', 'gpu003', 'not there']],
      ['write', ['FAILED', 'gpu002,gpu003', 'non-zero return code: gpu002: no space on /dev/sda'], ['CHANGED', 'gpu001', null]],
      ['list', ['SKIPPED', 'gpu001', null]],
    ])
  })

  test('merges a task that Ansible repeats per batch, but not two tasks of one name', async () => {
    expect(
      await matrixOf([
        event('ok', 'Gathering Facts', 'gpu001', { taskUuid: 'a' }),
        event('ok', 'x', 'gpu001', { taskUuid: 'x1' }),
        event('ok', 'x', 'gpu001', { taskUuid: 'x2' }),
        event('ok', 'Gathering Facts', 'gpu002', { taskUuid: 'b' }),
        event('ok', 'x', 'gpu002', { taskUuid: 'x1' }),
        event('skipped', 'x', 'gpu002', { taskUuid: 'x2' }),
      ]),
    ).toEqual([
      ['Gathering Facts', ['OK', 'gpu001,gpu002', null]],
      ['x', ['OK', 'gpu001,gpu002', null]],
      ['x', ['OK', 'gpu001', null], ['SKIPPED', 'gpu002', null]],
    ])
  })
})

test('a purged node cannot be retried and leaves no lock', async () => {
  const [node] = await t.given.fleet(ours.admin, { nodes: 1, prefix: 'gone', with: { credentialId: nodes[0]!.credentialId } })
  const parent = await finished(['FAILED'], { limit: 'gone001' })
  await db().update(computeNodes).set({ decommissionedAt: new Date() }).where(eq(computeNodes.id, node!.id))
  await purgeNode(ours.admin, { id: node!.id })
  await expect(retryJobRun(ours.operator, { id: parent.id })).rejects.toThrow(/their nodes are gone/)
  expect(await db().select().from(nodeLocks)).toEqual([])
})
