import { hasReason, type SlurmReservation } from '@muster/slurm'
import { and, asc, eq, isNull } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { addSlurmCluster, type SlurmCluster } from '../clusters/index.ts'
import { claimJobRun } from '../run-queue/index.ts'
import { advanceSlurmRun, finishJobRun, type JobRun, runJob } from '../runs/index.ts'
import { type HostResult, jobRunBatches, jobRunEvents, jobRunHosts, jobRunSlurmNodes, jobRuns } from '../runs/tables.ts'
import { foldHostlist } from '../selection/index.ts'
import {
  claimSlurmAction,
  finishSlurmAction,
  recordSlurmCommand,
  recordSlurmResults,
  slurmActions,
} from '../slurm-actions/index.ts'
import type { TenantFixture } from './factories.ts'
import { recordRefresh } from './record-refresh.ts'
import { type TestRuntime, testRuntime } from './runtime.ts'
import { slurmJob, slurmNode, slurmPartition } from './slurm-fixture.ts'

const NODES = ['gpu001', 'gpu002', 'gpu003', 'gpu004']
type FakeNode = { states: string[]; reason: string | null; jobs: { id: number; endAt?: Date | null }[] }
type State = {
  t: TestRuntime
  ours: TenantFixture
  cluster: SlurmCluster
  /** What the controller would report. */
  slurm: Map<string, FakeNode>
  reservations: SlurmReservation[]
}

/** For each test: a tenant with the nodes gpu[001-004] in the partition batch of a Slurm cluster, and the steps of runs over batches. */
export function slurmRunFixture() {
  let current: State
  const state = (): State => current
  let t: TestRuntime
  beforeAll(async () => {
    t = await testRuntime()
  })
  afterAll(() => t.close())
  beforeEach(async () => {
    const ours = await t.given.tenant()
    const { id: credentialId } = await t.given.credential(ours.admin, 'SSH_KEY')
    await t.given.fleet(ours.admin, { nodes: 4, with: { credentialId } })
    const [controller] = await t.given.fleet(ours.admin, { nodes: 1, prefix: 'ctl', with: { host: '10.9.9.9' } })
    const cluster = await addSlurmCluster(ours.admin, { name: 'prod', controllerNodeId: controller!.id })
    const slurm = new Map(NODES.map((name): [string, FakeNode] => [name, { states: ['IDLE'], reason: null, jobs: [] }]))
    current = { t, ours, cluster, slurm, reservations: [] }
    await refresh()
  })

  async function refresh(): Promise<void> {
    const { ours, cluster, slurm, reservations } = state()
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
    const { t, ours, cluster, slurm } = state()
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
        targets: targets.map((target) => ({ target, before: slurm.get(target)?.states.join('+') ?? null })),
      })
      const outcomes = targets.map((target) => {
        const node = slurm.get(target)
        if (!node) return { target, result: 'NOT_FOUND' as const, before: null, after: null, message: null }
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
    runJob(state().ours.operator, {
      template: 'connectivity_check',
      limit: 'gpu[001-004]',
      slurm: { batchSize: 2, ...options },
      ...more,
    })
  const advance = ({ id }: { id: string }) => advanceSlurmRun(state().ours.worker, { id })
  const rowOf = async ({ id }: { id: string }): Promise<JobRun> =>
    (await state().t.runtime.db.select().from(jobRuns).where(eq(jobRuns.id, id)))[0]!
  const batchesOf = ({ id }: { id: string }) =>
    state().t.runtime.db.select().from(jobRunBatches).where(eq(jobRunBatches.jobRunId, id)).orderBy(jobRunBatches.number)
  const nodesOf = ({ id }: { id: string }) =>
    state().t.runtime.db.select().from(jobRunSlurmNodes).where(eq(jobRunSlurmNodes.jobRunId, id)).orderBy(jobRunSlurmNodes.name)
  const hostsOf = ({ id }: { id: string }) =>
    state().t.runtime.db.select().from(jobRunHosts).where(eq(jobRunHosts.jobRunId, id)).orderBy(jobRunHosts.name)
  const logOf = async ({ id }: { id: string }) =>
    (await state().t.runtime.db.select().from(jobRunEvents).where(eq(jobRunEvents.jobRunId, id)).orderBy(jobRunEvents.seq)).map(
      ({ stdout }) => stdout,
    )
  const drained = () => [...state().slurm].filter(([, { states }]) => states.includes('DRAIN')).map(([name]) => name)
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
    const { ours } = state()
    const { childRunId } = (await batchesOf(run)).at(-1)!
    const claim = (await claimJobRun(ours.worker, { id: childRunId!, workerId: 'w1' }))!
    const hosts = claim.hosts.map(({ name }) => ({
      ...{ name, ok: 1, changed: 0, failed: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 },
      ...{
        result: results[name] ?? ('OK' as const),
        currentTask: null,
        currentTaskAt: null,
        message: results[name] ? 'no' : null,
      },
    }))
    const exitCode = Object.keys(results).length > 0 ? 2 : 0
    return finishJobRun(ours.worker, { id: childRunId!, token: claim.token, hosts, endCause: 'exit', exitCode })
  }
  return { state, refresh, act, start, advance, rowOf, batchesOf, nodesOf, hostsOf, logOf, drained, pass, play }
}
