import { hasReason, type SlurmReservation } from '@muster/slurm'
import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addSlurmCluster, removeSlurmCluster, type SlurmCluster } from '../../clusters/index.ts'
import { InvalidInput } from '../../kernel/errors.ts'
import { claimJobRun, pauseQueue, resumeQueue, setMaxConcurrentRuns } from '../../run-queue/index.ts'
import { foldHostlist } from '../../selection/index.ts'
import {
  claimSlurmAction,
  finishSlurmAction,
  recordSlurmCommand,
  recordSlurmResults,
  slurmActions,
} from '../../slurm-actions/index.ts'
import type { TenantFixture } from '../../testing/factories.ts'
import { recordRefresh } from '../../testing/record-refresh.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { slurmJob, slurmNode, slurmPartition, slurmReservation } from '../../testing/slurm-fixture.ts'
import { cancelJobRun } from '../lifecycle/cancel-job-run.ts'
import { endLostJobRuns } from '../lifecycle/end-lost-job-runs.ts'
import { finishJobRun } from '../lifecycle/finish-job-run.ts'
import { previewRun } from '../lifecycle/preview-run.ts'
import { retryJobRun } from '../lifecycle/retry-job-run.ts'
import { runJob } from '../lifecycle/run-job.ts'
import { type HostResult, type JobRun, jobRunBatches, jobRunEvents, jobRunHosts, jobRunSlurmNodes, jobRuns } from '../tables.ts'
import { advanceSlurmRun } from './advance-slurm-run.ts'

const NODES = ['gpu001', 'gpu002', 'gpu003', 'gpu004']
type FakeNode = { states: string[]; reason: string | null; jobs: { id: number; endAt?: Date | null }[] }

let t: TestRuntime
let ours: TenantFixture
let cluster: SlurmCluster
/** What the controller would report. */
let slurm: Map<string, FakeNode>
let reservations: SlurmReservation[]
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())
beforeEach(async () => {
  ours = await t.given.tenant()
  const { id: credentialId } = await t.given.credential(ours.admin, 'SSH_KEY')
  await t.given.fleet(ours.admin, { nodes: 4, with: { credentialId } })
  const [controller] = await t.given.fleet(ours.admin, { nodes: 1, prefix: 'ctl', with: { host: '10.9.9.9' } })
  cluster = await addSlurmCluster(ours.admin, { name: 'prod', controllerNodeId: controller!.id })
  slurm = new Map(NODES.map((name) => [name, { states: ['IDLE'], reason: null, jobs: [] }]))
  reservations = []
  await refresh()
})

async function refresh(): Promise<void> {
  await recordRefresh(ours.worker, {
    ...{ id: cluster.id, queries: [], durationMs: 0, error: null },
    state: {
      ...{ clusterName: 'prod', version: '23.11.11', controllers: [], settings: null, scheduler: null },
      nodes: [...slurm].map(([name, { states, reason, jobs }]) =>
        slurmNode(name, {
          states: [jobs.length > 0 && states[0] === 'IDLE' ? 'MIXED' : states[0]!, ...states.slice(1)],
          ...{ reason, partitions: ['batch'], allocatedCpus: jobs.length },
        }),
      ),
      partitions: [slurmPartition('batch', { nodes: 'gpu[001-004]' })],
      reservations,
      jobs: [...new Map([...slurm.values()].flatMap(({ jobs }) => jobs.map((job) => [job.id, job]))).values()].map(
        ({ id, endAt = null }) => {
          const nodes = [...slurm].filter(([, { jobs }]) => jobs.some((job) => job.id === id)).map(([name]) => name)
          return slurmJob(id, { nodes: foldHostlist(nodes), endAt, startAt: new Date(0) })
        },
      ),
    },
  })
}

/** Executes waiting actions as slurmctld and the worker do. */
async function act({ isRefused = false } = {}): Promise<string[]> {
  const done: string[] = []
  const waiting = await t.runtime.db
    .select()
    .from(slurmActions)
    .where(and(eq(slurmActions.clusterId, cluster.id), isNull(slurmActions.finishedAt)))
    .orderBy(asc(slurmActions.id))
  for (const { id } of waiting) {
    const claim = { id, token: 'a' }
    const { row, items } = (await claimSlurmAction(ours.worker, claim))!
    const targets = items.map(({ target }) => target)
    await recordSlurmCommand(ours.worker, {
      ...claim,
      command: 'x',
      targets: targets.map((target) => ({ target, before: slurm.get(target)!.states.join('+') })),
    })
    const outcomes = targets.map((target) => {
      const node = slurm.get(target)!
      const { action } = row
      const isDrained = node.states.includes('DRAIN')
      let result: 'DONE' | 'UNCHANGED' | 'REFUSED' = 'DONE'
      if (isRefused) result = 'REFUSED'
      else if (action.verb === 'DRAIN_NODES') {
        if (isDrained) result = 'UNCHANGED'
        else Object.assign(node, { states: [...node.states, 'DRAIN'], reason: action.reason })
      } else if (action.verb === 'RESUME_NODES' || action.verb === 'UNDRAIN_NODES') {
        if (!isDrained || !hasReason(node, action.onlyReason!)) result = 'UNCHANGED'
        else if (action.verb === 'RESUME_NODES') Object.assign(node, { states: ['IDLE'], reason: null })
        else Object.assign(node, { states: node.states.filter((state) => state !== 'DRAIN'), reason: null })
      }
      const after = node.states.join('+') + (node.reason ? `: ${node.reason}` : '')
      return { target, result, before: null, after, message: isRefused ? 'Access denied' : null }
    })
    await recordSlurmResults(ours.worker, { ...claim, outcomes })
    await finishSlurmAction(ours.worker, { ...claim, error: null })
    done.push(`${row.verb} ${foldHostlist(targets)}`)
  }
  return done
}

const start = (options: object = {}, more: object = {}) =>
  runJob(ours.operator, { template: 'connectivity_check', limit: 'gpu[001-004]', slurm: { batchSize: 2, ...options }, ...more })
const advance = ({ id }: { id: string }) => advanceSlurmRun(ours.worker, { id })
const rowOf = async ({ id }: { id: string }): Promise<JobRun> =>
  (await t.runtime.db.select().from(jobRuns).where(eq(jobRuns.id, id)))[0]!
const batchesOf = ({ id }: { id: string }) =>
  t.runtime.db.select().from(jobRunBatches).where(eq(jobRunBatches.jobRunId, id)).orderBy(jobRunBatches.number)
const nodesOf = ({ id }: { id: string }) =>
  t.runtime.db.select().from(jobRunSlurmNodes).where(eq(jobRunSlurmNodes.jobRunId, id)).orderBy(jobRunSlurmNodes.name)
const hostsOf = ({ id }: { id: string }) =>
  t.runtime.db.select().from(jobRunHosts).where(eq(jobRunHosts.jobRunId, id)).orderBy(jobRunHosts.name)
const logOf = async ({ id }: { id: string }) =>
  (await t.runtime.db.select().from(jobRunEvents).where(eq(jobRunEvents.jobRunId, id)).orderBy(jobRunEvents.seq)).map(
    ({ stdout }) => stdout,
  )
const drained = () => [...slurm].filter(([, { states }]) => states.includes('DRAIN')).map(([name]) => name)
/** One pass of everything that the workers do, except for playbooks. */
const pass = async (run: { id: string }) => {
  await advance(run)
  const done = await act()
  await refresh()
  await advance(run)
  return done
}
/** Executes the playbook of the current batch. */
async function play(run: { id: string }, results: Record<string, HostResult> = {}): Promise<JobRun> {
  const { childRunId } = (await batchesOf(run)).at(-1)!
  const claim = (await claimJobRun(ours.worker, { id: childRunId!, workerId: 'w1' }))!
  const hosts = claim.hosts.map(({ name }) => ({
    ...{ name, ok: 1, changed: 0, failed: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 },
    ...{ result: results[name] ?? ('OK' as const), currentTask: null, currentTaskAt: null, message: results[name] ? 'no' : null },
  }))
  const exitCode = Object.keys(results).length > 0 ? 2 : 0
  return finishJobRun(ours.worker, { id: childRunId!, token: claim.token, hosts, endCause: 'exit', exitCode })
}

test('drains, runs on and resumes one batch after the other', async () => {
  const run = await start({}, { reason: 'new driver' })
  expect(run).toMatchObject({ status: 'RUNNING', hostsTotal: 4 })
  expect(await pass(run)).toEqual(['DRAIN_NODES gpu[001-002]'])
  expect(slurm.get('gpu001')!.reason).toMatch(new RegExp(`^run ${run.number}: new driver \\(muster [0-9a-f]{12}\\)$`))
  expect(drained()).toEqual(['gpu001', 'gpu002'])
  const child = await play(run)
  expect(child).toMatchObject({ status: 'SUCCEEDED', createdByName: ours.operator.actor.name, limit: 'gpu[001-002]' })
  expect(await pass(run)).toEqual([])
  expect(await pass(run)).toEqual(['RESUME_NODES gpu[001-002]'])
  expect(drained()).toEqual([])
  expect(await pass(run)).toEqual(['DRAIN_NODES gpu[003-004]'])
  await play(run)
  await pass(run)
  await pass(run)
  expect(drained()).toEqual([])
  expect(await rowOf(run)).toMatchObject({ status: 'SUCCEEDED', hostsOk: 4, error: null })
  expect((await batchesOf(run)).map(({ phase }) => phase)).toEqual(['DONE', 'DONE'])
  expect(await logOf(run)).toEqual([
    'Batch 1: gpu[001-002] of prod; 2 left.',
    expect.stringMatching(/^Batch 1: no job is left\. The run \d+ executes the playbook\.$/),
    expect.stringMatching(/^Batch 1: The run \d+ ended with SUCCEEDED\.$/),
    'Waiting for healthy nodes: gpu[001-002] (a refresh of the cluster).',
    'Batch 1: done, gpu[001-002] in service.',
    'Batch 2: gpu[003-004] of prod; 0 left.',
    ...Array(2).fill(expect.any(String)),
    expect.stringContaining('Waiting for healthy nodes'),
    'Batch 2: done, gpu[003-004] in service.',
    'All batches are done.',
  ])
})

test('waits for running jobs, and for data from after the drain', async () => {
  slurm.get('gpu001')!.jobs = [{ id: 7 }]
  slurm.get('gpu002')!.jobs = [{ id: 8 }]
  await refresh()
  const run = await start({}, { limit: 'gpu[001-002]' })
  await advance(run)
  await act()
  slurm.get('gpu001')!.jobs = []
  slurm.get('gpu002')!.jobs = []
  await advance(run)
  expect((await batchesOf(run))[0]).toMatchObject({ phase: 'WAITING_FOR_JOBS', childRunId: null })
  slurm.get('gpu002')!.jobs = [{ id: 8 }]
  await refresh()
  await advance(run)
  expect((await rowOf(run)).slurm!.waitsFor).toBe('the job 8 on gpu002')
  slurm.get('gpu002')!.jobs = []
  await refresh()
  await advance(run)
  expect((await batchesOf(run))[0]).toMatchObject({ phase: 'RUNNING' })
})

test('gives up at the deadline: resumes the untouched nodes and stops', async () => {
  for (const name of NODES) slurm.get(name)!.jobs = [{ id: 9 }]
  await refresh()
  const run = await start({ deadlineSeconds: 0 })
  await pass(run)
  expect(await pass(run)).toEqual(['UNDRAIN_NODES gpu[001-002]'])
  expect(drained()).toEqual([])
  expect(await rowOf(run)).toMatchObject({ status: 'TIMED_OUT', error: expect.stringContaining('the job 9 on gpu[001-002]') })
})

test('keeps failed nodes drained, resumes the others, begins no further batch, and a retry takes the drains over', async () => {
  const run = await start()
  await pass(run)
  await play(run, { gpu002: 'FAILED' })
  await pass(run)
  await pass(run)
  expect(drained()).toEqual(['gpu002'])
  expect(await rowOf(run)).toMatchObject({
    status: 'PARTIAL',
    error: expect.stringMatching(/^Batch 1 failed, .*ended with PARTIAL\. Still drained by this run: gpu002\.$/),
  })
  expect((await hostsOf(run)).map(({ result }) => result)).toEqual(['OK', 'FAILED', 'NOT_RUN', 'NOT_RUN'])
  const again = await retryJobRun(ours.operator, { id: run.id })
  expect(again).toMatchObject({ slurm: { batchSize: 2 }, hostsTotal: 1 })
  expect(await pass(again)).toEqual([])
  await play(again)
  await pass(again)
  await pass(again)
  expect(drained()).toEqual([])
  expect(await rowOf(again)).toMatchObject({ status: 'SUCCEEDED' })
  expect((await nodesOf(run)).find(({ isDrained }) => isDrained)).toBeUndefined()
})

test('leaves a node drained that an admin drained, before or during the run', async () => {
  Object.assign(slurm.get('gpu001')!, { states: ['IDLE', 'DRAIN'], reason: 'fan' })
  await refresh()
  const run = await start()
  expect(await pass(run)).toEqual(['DRAIN_NODES gpu002'])
  Object.assign(slurm.get('gpu002')!, { reason: 'disk' })
  await play(run)
  await pass(run)
  await pass(run)
  expect(slurm.get('gpu001')).toMatchObject({ states: ['IDLE', 'DRAIN'], reason: 'fan' })
  expect(slurm.get('gpu002')).toMatchObject({ states: ['IDLE', 'DRAIN'], reason: 'disk' })
  expect((await nodesOf(run))[1]).toMatchObject({ isDrained: false, message: expect.stringContaining('disk') })
})

test('does not run on a node that somebody resumed', async () => {
  const run = await start()
  await advance(run)
  await act()
  Object.assign(slurm.get('gpu001')!, { states: ['IDLE'], reason: null })
  await refresh()
  await pass(run)
  expect((await batchesOf(run))[0]).toMatchObject({
    childRunId: null,
    error: expect.stringContaining('gpu001: no longer drained'),
  })
  expect(drained()).toEqual([])
})

test('stops when a node is not healthy after the playbook', async () => {
  const run = await start({ healthSeconds: 0 })
  await pass(run)
  await play(run)
  slurm.get('gpu001')!.states = ['DOWN', 'NOT_RESPONDING', 'DRAIN']
  await advance(run)
  await refresh()
  await pass(run)
  expect(drained()).toEqual(['gpu001'])
  await pass(run)
  expect(await rowOf(run)).toMatchObject({
    status: 'PARTIAL',
    error: expect.stringContaining('Still drained by this run: gpu001'),
  })
  expect((await hostsOf(run))[0]).toMatchObject({ result: 'FAILED', message: expect.stringContaining('DOWN+NOT_RESPONDING') })
})

test('resumes nothing when Slurm refuses to drain', async () => {
  const run = await start()
  await advance(run)
  await act({ isRefused: true })
  await pass(run)
  expect(await rowOf(run)).toMatchObject({ status: 'ERROR', error: expect.stringContaining('Access denied') })
})

describe('capacity and reservations', () => {
  test('stays above the floor of each partition', async () => {
    Object.assign(slurm.get('gpu004')!, { states: ['DOWN'] })
    await refresh()
    const run = await start({ floorPercent: 50 })
    // Of 4 nodes, 2 must stay, and 3 are in service. The one that is down takes no capacity.
    expect(await pass(run)).toEqual(['DRAIN_NODES gpu[001,004]'])
    expect((await nodesOf(run)).filter(({ batchId }) => batchId).map(({ name }) => name)).toEqual(['gpu001', 'gpu004'])
  })

  test('waits for capacity', async () => {
    for (const name of ['gpu003', 'gpu004']) slurm.get(name)!.states = ['DOWN']
    await refresh()
    const run = await start({}, { limit: 'gpu[001-002]' })
    expect(await pass(run)).toEqual([])
    expect((await rowOf(run)).slurm!.waitsFor).toContain('2 of 4 nodes of the partition batch are in service, and 2 must stay')
    slurm.get('gpu003')!.states = ['IDLE']
    await refresh()
    expect(await pass(run)).toEqual(['DRAIN_NODES gpu001'])
  })

  const reserve = async (nodes: string, flags: string[], startAt: Date, endAt: Date | null = null) => {
    reservations = [{ ...slurmReservation('maint1'), nodes, flags, startAt, endAt }]
    await refresh()
  }
  const PAST = new Date('2026-01-01T00:00:00Z')
  const LATER = new Date(Date.now() + 7 * 86_400_000)

  test('skips nodes that are reserved by others, unless asked', async () => {
    await reserve('gpu[001-003]', [], PAST)
    const run = await start()
    expect(await pass(run)).toEqual(['DRAIN_NODES gpu004'])
    await play(run)
    await pass(run)
    await pass(run)
    await pass(run)
    expect(await rowOf(run)).toMatchObject({ status: 'PARTIAL', error: expect.stringContaining('Not run on gpu[001-003]') })
    expect((await hostsOf(run))[0]!.message).toContain('reservation maint1')
    expect(await pass(await start({ includeReserved: true }))).toEqual(['DRAIN_NODES gpu[001-002]'])
  })

  test('with maintenanceOnly waits for the window, and skips nodes without one', async () => {
    await reserve('gpu[001-002]', ['MAINT'], LATER)
    const run = await start({ maintenanceOnly: true })
    expect(await pass(run)).toEqual([])
    expect((await rowOf(run)).slurm!.waitsFor).toContain('the maintenance window maint1')
    await reserve('gpu[001-002]', ['MAINT'], PAST)
    expect(await pass(run)).toEqual(['DRAIN_NODES gpu[001-002]'])
  })
})

describe('starting', () => {
  test('refuses nodes without a cluster, a floor that protects all, and nodes of an unfinished run', async () => {
    await expect(start({}, { limit: 'ctl001' })).rejects.toThrow(InvalidInput)
    await expect(start({ floorPercent: 100 })).rejects.toThrow(/lets no node of the partition batch \(4 nodes\) be drained/)
    const first = await start({}, { limit: 'gpu001' })
    await expect(start()).rejects.toThrow(`gpu001: in the unfinished run ${first.number}`)
    const both = await Promise.allSettled([1, 2].map(() => start({}, { limit: 'gpu003' })))
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('needs the permissions to drain and resume', async () => {
    await expect(runJob(ours.viewer, { template: 'connectivity_check', limit: 'all', slurm: {} })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    const { actor } = ours.operator
    if (actor.kind !== 'user') throw new Error('not a user')
    for (const missing of ['slurm:node:drain', 'slurm:node:resume']) {
      const permissions = new Set([...actor.permissions].filter((name) => name !== missing))
      const limited = { ...ours.operator, actor: { ...actor, permissions } }
      const input = { template: 'connectivity_check', limit: 'gpu001', slurm: {} }
      await expect(runJob(limited, input)).rejects.toThrow(missing)
      await expect(previewRun(limited, input)).rejects.toThrow(missing)
    }
  })

  test('previews more batches than it chooses one by one', async () => {
    const names = Array.from({ length: 120 }, (_, at) => `many${String(at + 1).padStart(3, '0')}`)
    const { id: credentialId } = await t.given.credential(ours.admin, 'SSH_KEY')
    await t.given.fleet(ours.admin, { nodes: 120, prefix: 'many', with: { credentialId } })
    for (const name of names) slurm.set(name, { states: ['IDLE'], reason: null, jobs: [] })
    await refresh()
    const input = { template: 'connectivity_check', limit: 'many[001-120]', slurm: { batchSize: 1 } }
    const { batches } = (await previewRun(ours.operator, input)).slurm!
    expect(batches.flatMap(({ hosts }) => hosts)).toEqual(names)
    expect(batches).toHaveLength(120)
  })

  test('previews batches, waits by time limits, and what is in the way', async () => {
    slurm.get('gpu001')!.jobs = [{ id: 7, endAt: new Date(Date.now() + 600_000) }]
    Object.assign(slurm.get('gpu002')!, { states: ['IDLE', 'DRAIN'], reason: 'fan' })
    await refresh()
    const input = { template: 'connectivity_check', limit: 'gpu[001-003]', slurm: { batchSize: 2 } }
    const { slurm: plan } = await previewRun(ours.operator, input)
    expect(plan).toMatchObject({
      batches: [
        { hosts: ['gpu002', 'gpu003'], jobs: [], waitSeconds: 0 },
        { hosts: ['gpu001'], jobs: [{ jobId: '7' }], waitSeconds: expect.any(Number) },
      ],
      partitions: [{ name: 'batch', nodes: 4, inService: 3, floor: 2 }],
      outOfService: ['gpu002'],
      waitsFor: null,
    })
    expect(plan!.estimatedSeconds).toBeGreaterThan(590)
    expect(plan!.estimatedSeconds).toBeLessThanOrEqual(600)
    slurm.get('gpu001')!.jobs = [{ id: 7, endAt: null }]
    await refresh()
    expect((await previewRun(ours.operator, input)).slurm).toMatchObject({ estimatedSeconds: null })
  })
})

test('is no lost run, and takes no place of the limit of concurrent runs', async () => {
  await setMaxConcurrentRuns(ours.system, { maxConcurrentRuns: 1 })
  const run = await start()
  await t.runtime.db.execute(sql`update job_runs set worker_seen_at = now() - interval '1 hour' where id = ${run.id}`)
  await endLostJobRuns({ ...t.runtime, actor: ours.system.actor })
  expect(await rowOf(run)).toMatchObject({ status: 'RUNNING' })
  await pass(run)
  expect(await play(run)).toMatchObject({ status: 'SUCCEEDED' })
})

test('a cancel before the playbook resumes the nodes; one during it cancels the run of the batch', async () => {
  const early = await start()
  await advance(early)
  await act()
  await cancelJobRun(ours.operator, { id: early.id })
  await advance(early)
  await act()
  await advance(early)
  expect(await rowOf(early)).toMatchObject({ status: 'CANCELED' })
  expect(drained()).toEqual([])

  await refresh()
  const late = await start()
  await pass(late)
  const [batch] = await batchesOf(late)
  await claimJobRun(ours.worker, { id: batch!.childRunId!, workerId: 'w1', token: '0193b7a2-0000-7000-8000-000000000000' })
  await cancelJobRun(ours.operator, { id: late.id })
  await advance(late)
  const child = await rowOf({ id: batch!.childRunId! })
  expect(child).toMatchObject({ status: 'CANCELING', cancelRequestedByName: ours.operator.actor.name })
  const state = { ok: 0, changed: 0, failed: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0, message: null }
  const hosts = [{ name: 'gpu001', ...state, result: 'RUNNING' as const, currentTask: 'x', currentTaskAt: null }]
  await finishJobRun(ours.worker, { id: child.id, token: child.claimToken!, hosts, endCause: 'cancel' })
  await pass(late)
  await pass(late)
  // The playbook had begun on the first node and not on the second.
  expect(drained()).toEqual(['gpu001'])
  expect(await rowOf(late)).toMatchObject({
    status: 'CANCELED',
    error: expect.stringContaining('Still drained by this run: gpu001'),
  })
})

test('drains a node that is DOWN, and leaves it DOWN when nothing ran on it', async () => {
  slurm.get('gpu001')!.states = ['DOWN']
  await refresh()
  const run = await start({}, { limit: 'gpu[001-002]' })
  expect(await pass(run)).toEqual(['DRAIN_NODES gpu[001-002]'])
  await cancelJobRun(ours.operator, { id: run.id })
  expect(await pass(run)).toEqual(['UNDRAIN_NODES gpu[001-002]'])
  expect(slurm.get('gpu001')).toMatchObject({ states: ['DOWN'] })
})

test('resumes a node to whose reason Slurm appended something', async () => {
  const run = await start({}, { limit: 'gpu001' })
  await pass(run)
  await play(run)
  slurm.get('gpu001')!.reason += ' : reboot issued'
  await pass(run)
  expect(await pass(run)).toEqual(['RESUME_NODES gpu001'])
  expect(drained()).toEqual([])
})

test('does not begin a queued playbook on a node that is no longer drained', async () => {
  const run = await start({}, { limit: 'gpu[001-002]' })
  await pass(run)
  Object.assign(slurm.get('gpu001')!, { states: ['IDLE'], reason: null })
  await refresh()
  expect(await pass(run)).toEqual(['UNDRAIN_NODES gpu[001-002]'])
  const [batch] = await batchesOf(run)
  expect(await rowOf({ id: batch!.childRunId! })).toMatchObject({ status: 'CANCELED', startedAt: null })
  expect(await rowOf(run)).toMatchObject({
    status: 'ERROR',
    error: expect.stringContaining('gpu001: no longer drained and free'),
  })
  expect(drained()).toEqual([])
})

test('drains nothing while the queue is paused', async () => {
  await pauseQueue(ours.admin, { reason: 'power' })
  const run = await start()
  expect(await pass(run)).toEqual([])
  expect((await rowOf(run)).slurm!.waitsFor).toContain('paused')
  await resumeQueue(ours.admin)
  expect(await pass(run)).toEqual(['DRAIN_NODES gpu[001-002]'])
})

test('keeps its cluster from removal until it ends', async () => {
  const run = await start()
  await expect(removeSlurmCluster(ours.admin, { id: cluster.id })).rejects.toThrow(`The run ${run.number}`)
  await cancelJobRun(ours.operator, { id: run.id })
  await advance(run)
  await removeSlurmCluster(ours.admin, { id: cluster.id })
})

test('a run that is canceled while it waits for capacity waits for nothing afterwards', async () => {
  for (const name of ['gpu003', 'gpu004']) slurm.get(name)!.states = ['DOWN']
  await refresh()
  const run = await start({}, { limit: 'gpu[001-002]' })
  await pass(run)
  expect((await rowOf(run)).slurm!.waitsFor).not.toBeNull()
  await cancelJobRun(ours.operator, { id: run.id })
  await pass(run)
  expect(await rowOf(run)).toMatchObject({ status: 'CANCELED', slurm: { waitsFor: null } })
})

test('drains with the whole characters of a long reason', async () => {
  const runs = [await start({}, { limit: 'gpu001', reason: '😀'.repeat(100) })]
  runs.push(await start({}, { limit: 'gpu002', reason: `x${'😀'.repeat(100)}` }))
  for (const run of runs) expect(await pass(run)).toHaveLength(1)
  for (const name of ['gpu001', 'gpu002']) expect(slurm.get(name)!.reason).toMatch(/^run \d+: x?(😀)+ \(muster [0-9a-f]{12}\)$/u)
})

test('two workers advance it once', async () => {
  const run = await start()
  await Promise.all(Array.from({ length: 5 }, () => advance(run)))
  expect(await batchesOf(run)).toHaveLength(1)
  expect(await act()).toEqual(['DRAIN_NODES gpu[001-002]'])
})
