import {
  findWaitingSlurmLookup,
  finishSlurmLookup,
  type SlurmCluster,
  type SlurmLookupRequest,
  type SlurmLookupResult,
  startSlurmLookup,
} from '@muster/core/clusters'
import type { Ctx } from '@muster/core/context'
import type { QueueEntry } from '@muster/core/queue'
import { retryTransient } from '@muster/core/retry-transient'
import { ACCOUNTING_NAME, parseJobRecords, parsePriorities, parseShares, USER_NAME } from '@muster/slurm'
import pLimit, { type LimitFunction } from 'p-limit'
import type { ControllerSessions } from '../slurm/controller-sessions.ts'
import { readFinishedJobs } from '../slurm/read-finished-jobs.ts'
import { QUERY_TIMEOUT_MS, type QueryContext, QueryFailure, runAccountingQuery } from '../slurm/run-query.ts'
import { SshFailure } from '../ssh/ssh-failure.ts'
import { type NodeConfig, type WorkerDeps, workerCtx } from '../worker.ts'

type Deps = Omit<WorkerDeps<NodeConfig>, 'listener'> & {
  controllers: ControllerSessions
  stopping: AbortSignal
  queryTimeoutMs?: number
  deadlineMs?: number
}

/** Hosts permit few channels in one connection (MaxSessions), and refreshes need some of them. */
const PER_CLUSTER = 2
/** Of a lookup, over both hosts. */
const DEADLINE_MS = 180_000
/** A search continues in the next lookup after it. */
const SEARCH_MS = 30_000
/** 40,000 jobs. */
const MAX_BYTES = 16 * 1024 * 1024
/** Of an array, and of a job with many calls of srun. */
const MAX_JOBS = 200
const MAX_STEPS = 200
/** The clock of the controller's host may be ahead. */
const CLOCK_AHEAD_S = 300

type Outcome = { result: SlurmLookupResult | null; error: string | null }

const NOTHING: SlurmLookupResult = {
  ...{ hasAccounting: true, jobs: [], searchedSinceSeconds: null, next: null, priorities: [], shares: [] },
}

/** Runs what users ask for on the host of a controller, through the backup's host when the first one fails. */
export function slurmLookupHandler(deps: Deps): (entry: QueueEntry) => Promise<void> {
  const limits = new Map<string, LimitFunction>()
  const limitOf = (clusterId: string): LimitFunction => {
    const limit = limits.get(clusterId) ?? pLimit(PER_CLUSTER)
    limits.set(clusterId, limit)
    return limit
  }
  async function execute(ctx: Ctx, { id }: QueueEntry): Promise<void> {
    const claimed = await retryTransient(() => startSlurmLookup(ctx, { id }))
    if (!claimed) return
    const finish = (outcome: Outcome) => retryTransient(() => finishSlurmLookup(ctx, { id, ...outcome }))
    try {
      await finish(await lookUp(ctx, claimed.cluster, claimed.lookup.request, deps))
    } catch (error) {
      await finish({ result: null, error: 'The lookup failed unexpectedly. The log of the worker has the reason. Try again.' })
      throw error
    }
  }
  return async (entry) => {
    const ctx = workerCtx(deps, entry)
    const waiting = await retryTransient(() => findWaitingSlurmLookup(ctx, entry))
    // Claimed within the limit: the time of a claim is bounded.
    if (waiting) await limitOf(waiting.clusterId)(() => execute(ctx, entry))
  }
}

async function lookUp(
  ctx: Ctx,
  { name, controllerNodeId, backupNodeId, programFolder }: SlurmCluster,
  request: SlurmLookupRequest,
  { controllers, stopping, queryTimeoutMs, deadlineMs = DEADLINE_MS }: Deps,
): Promise<Outcome> {
  const errors: string[] = []
  const deadline = AbortSignal.timeout(deadlineMs)
  const signal = AbortSignal.any([stopping, deadline])
  for (const nodeId of [controllerNodeId, backupNodeId]) {
    if (nodeId === null) continue
    try {
      const result = await controllers.use(ctx, nodeId, (session) =>
        run({ session, programFolder, signal, timeoutMs: queryTimeoutMs ?? QUERY_TIMEOUT_MS, onReport: () => {} }, request),
      )
      return { result, error: null }
    } catch (error) {
      if (stopping.aborted) return { result: null, error: 'The worker was stopped during the lookup. Try again.' }
      if (deadline.aborted) return { result: null, error: ['The lookup took too long. Try again.', ...errors].join(' ') }
      if (error instanceof QueryFailure && /accounting storage is disabled/i.test(error.detail))
        return {
          result: { ...NOTHING, hasAccounting: false },
          error: `Jobs are not recorded on ${name}: it has no accounting. Set up slurmdbd, and AccountingStorageType=accounting_storage/slurmdbd in slurm.conf.`,
        }
      if (error instanceof SshFailure) errors.push(error.summary)
      else if (error instanceof QueryFailure) errors.push(error.detail)
      else throw error
    }
  }
  return { result: null, error: errors.join(' ') || `The cluster ${name} has no controller node. Choose one.` }
}

async function run(context: Omit<QueryContext, 'version'>, request: SlurmLookupRequest): Promise<SlurmLookupResult> {
  switch (request.kind) {
    case 'FINISHED': {
      const { filter, untilSeconds } = request
      const startedAt = performance.now()
      const search = { ...request, untilSeconds: untilSeconds ?? Math.floor(Date.now() / 1000) + CLOCK_AHEAD_S }
      const found = await readFinishedJobs(
        (since, until) => {
          // Releases differ in whether the end is included.
          const query = { query: 'finished', sinceSeconds: since, untilSeconds: until + 1, filter } as const
          return runAccountingQuery(context, query, parseJobRecords, MAX_BYTES)
        },
        search,
        () => performance.now() - startedAt > SEARCH_MS,
      )
      return { ...NOTHING, ...found }
    }
    case 'JOB': {
      const jobs = await runAccountingQuery(context, { query: 'job', jobId: request.jobId }, parseJobRecords, MAX_BYTES)
      return { ...NOTHING, jobs: jobs.slice(0, MAX_JOBS).map((job) => ({ ...job, steps: job.steps.slice(0, MAX_STEPS) })) }
    }
    case 'PRIORITY': {
      const { jobId, user, account } = request
      const priorities = await runAccountingQuery(context, { query: 'priority', jobId }, parsePriorities, MAX_BYTES)
      // Names in other forms cannot be put into a command.
      const hasShares = user !== null && account !== null && USER_NAME.test(user) && ACCOUNTING_NAME.test(account)
      const shares = hasShares
        ? await runAccountingQuery(context, { query: 'shares', user, account }, parseShares, MAX_BYTES)
        : []
      return { ...NOTHING, priorities: priorities.slice(0, MAX_JOBS), shares: shares.slice(0, MAX_JOBS) }
    }
  }
}
