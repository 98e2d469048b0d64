import {
  claimSlurmRefresh,
  type QueryReport,
  type RefreshOutcome,
  readStoredReports,
  recordSlurmRefresh,
  releaseSlurmRefresh,
  renewSlurmRefresh,
  type SlurmCluster,
} from '@muster/core/clusters'
import type { Ctx } from '@muster/core/context'
import type { QueueEntry } from '@muster/core/queue'
import { retryTransient } from '@muster/core/retry-transient'
import type { ControllerSessions } from '../slurm/controller-sessions.ts'
import { createJobParsers } from '../slurm/job-parsers.ts'
import { readCluster } from '../slurm/read-cluster.ts'
import { QUERY_TIMEOUT_MS, QueryFailure } from '../slurm/run-query.ts'
import { createSlurmrestdOf, type SlurmrestdOf } from '../slurm/slurmrestd/slurmrestd-of.ts'
import { SshFailure } from '../ssh/ssh-failure.ts'
import { type NodeConfig, type WorkerDeps, workerCtx } from '../worker.ts'

type Deps = Omit<WorkerDeps<NodeConfig>, 'listener'> & {
  controllers: ControllerSessions
  queryTimeoutMs?: number
  renewEveryMs?: number
}

/** A fourth of the claim's duration. */
const RENEW_EVERY_MS = 15_000
const SETTINGS_AGE_MS = 600_000

/** Reads a cluster from its controller, and slurmrestd where it has one; from the backup's host when the first one fails. */
export function slurmRefreshHandler(deps: Deps): (entry: QueueEntry) => Promise<void> {
  const jobParserOf = createJobParsers()
  const slurmrestdOf = createSlurmrestdOf(deps.config.LOCAL_TARGETS)
  return async (entry) => {
    const ctx = workerCtx(deps, entry)
    const cluster = await retryTransient(() => claimSlurmRefresh(ctx, { id: entry.id }))
    if (!cluster) return
    const { id, claimToken } = cluster
    const startedAt = performance.now()
    const lost = new AbortController()
    const renew = async () => {
      if (!(await retryTransient(() => renewSlurmRefresh(ctx, { id, claimToken })))) lost.abort()
    }
    // While the commands run.
    const stored = retryTransient(() => readStoredReports(ctx, { id }))
    stored.catch(() => {})
    const timer = setInterval(() => void renew().catch(() => lost.abort()), deps.renewEveryMs ?? RENEW_EVERY_MS)
    const stopping = AbortSignal.any([deps.stopping, lost.signal])
    const refreshed = await refresh(ctx, cluster, { ...deps, stopping, jobParserOf, slurmrestdOf }).finally(() =>
      clearInterval(timer),
    )
    if (!refreshed) return retryTransient(() => releaseSlurmRefresh(ctx, { id, claimToken }))
    const outcome = { ...refreshed, id, claimToken, durationMs: performance.now() - startedAt, stored: await stored }
    await retryTransient(() => recordSlurmRefresh(ctx, outcome))
  }
}

type Refreshed = Pick<RefreshOutcome, 'state' | 'error' | 'queries' | 'readNodeId' | 'fallbackReason'>

/** @returns null when the worker stops or has lost its claim, which says nothing about the cluster */
async function refresh(
  ctx: Ctx,
  cluster: SlurmCluster,
  deps: Deps & { jobParserOf: ReturnType<typeof createJobParsers>; slurmrestdOf: SlurmrestdOf },
): Promise<Refreshed | null> {
  const { controllerNodeId, backupNodeId, programFolder, settingsReadAt } = cluster
  const readSettings = settingsReadAt === null || Date.now() - settingsReadAt.getTime() > SETTINGS_AGE_MS
  const slurmrestd = await deps.slurmrestdOf(ctx, cluster)
  let queries: QueryReport[] = []
  const errors: string[] = []
  for (const nodeId of [controllerNodeId, backupNodeId]) {
    if (nodeId === null) continue
    queries = []
    const context = {
      programFolder,
      signal: deps.stopping,
      timeoutMs: deps.queryTimeoutMs ?? QUERY_TIMEOUT_MS,
      onReport: (report: QueryReport) => void queries.push(report),
    }
    try {
      const state = await deps.controllers.use(ctx, nodeId, (session) =>
        readCluster({ ...context, session }, readSettings, deps.jobParserOf(cluster.id), slurmrestd),
      )
      return { state, error: null, queries, readNodeId: nodeId, fallbackReason: errors.join(' ') || null }
    } catch (error) {
      if (deps.stopping.aborted) return null
      if (error instanceof SshFailure) errors.push(error.summary)
      else if (error instanceof QueryFailure) errors.push(error.message)
      else throw error
    }
  }
  return { state: null, error: errors.join(' ') || 'The cluster has no controller node. Choose one.', queries }
}
