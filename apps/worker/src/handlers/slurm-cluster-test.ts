import {
  finishSlurmTest,
  type QueryReport,
  recordSlurmTestQueries,
  type SlurmClusterTest,
  startSlurmTest,
} from '@muster/core/clusters'
import type { Ctx } from '@muster/core/context'
import type { QueueEntry } from '@muster/core/queue'
import { retryTransient } from '@muster/core/retry-transient'
import { type ControllerLogin, openController } from '../slurm/controller-sessions.ts'
import { QUERY_TIMEOUT_MS, QueryFailure } from '../slurm/run-query.ts'
import { createSlurmrestdOf, type SlurmrestdOf } from '../slurm/slurmrestd/slurmrestd-of.ts'
import { skippedAfter, testController } from '../slurm/test-controller.ts'
import { SshFailure } from '../ssh/ssh-failure.ts'
import { workerCtx } from '../worker.ts'

type Result = Pick<SlurmClusterTest, 'preview' | 'error'>

/** Tests a controller over a connection of its own, and records each command when it ends. */
export function slurmClusterTestHandler(deps: ControllerLogin): (entry: QueueEntry) => Promise<void> {
  const slurmrestdOf = createSlurmrestdOf(deps.config.LOCAL_TARGETS)
  return async (entry) => {
    const ctx = workerCtx(deps, entry)
    const test = await retryTransient(() => startSlurmTest(ctx, { id: entry.id }))
    if (!test) return
    const queries: QueryReport[] = []
    // Recorded in order, without making the test wait for the database.
    let recorded = Promise.resolve()
    const onReport = (report: QueryReport) => {
      queries.push(report)
      const sofar = [...queries]
      recorded = recorded.then(() => retryTransient(() => recordSlurmTestQueries(ctx, { id: test.id, queries: sofar })))
      // Awaited below; until then a failure must not count as unhandled.
      recorded.catch(() => {})
    }
    const result = await run(ctx, { ...deps, slurmrestdOf }, test, onReport)
    await recorded
    await retryTransient(() =>
      finishSlurmTest(ctx, { id: test.id, queries: [...queries, ...skippedAfter(queries, test)], ...result }),
    )
  }
}

async function run(
  ctx: Ctx,
  deps: ControllerLogin & { slurmrestdOf: SlurmrestdOf },
  test: SlurmClusterTest,
  onReport: (report: QueryReport) => void,
): Promise<Result> {
  const { nodeId, programFolder } = test
  const login = { query: 'login', command: 'ssh', exitCode: null } as const
  const startedAt = performance.now()
  let isOpen = false
  try {
    const { session, command } = await openController(ctx, deps, nodeId)
    isOpen = true
    try {
      const durationMs = Math.round(performance.now() - startedAt)
      onReport({ ...login, command, state: 'OK', durationMs, detail: 'The host accepts the credential.', hint: null })
      const context = { session, programFolder, signal: deps.stopping, timeoutMs: QUERY_TIMEOUT_MS, onReport }
      return { preview: await testController(context, await deps.slurmrestdOf(ctx, test)), error: null }
    } finally {
      session.close()
    }
  } catch (error) {
    if (deps.stopping.aborted) return { preview: null, error: 'The worker was stopped during the test; test again.' }
    if (!(error instanceof SshFailure) && !(error instanceof QueryFailure)) throw error
    if (!isOpen) {
      const durationMs = Math.round(performance.now() - startedAt)
      const hint = error instanceof SshFailure ? error.hint : null
      onReport({ ...login, state: 'FAILED', durationMs, detail: error.message, hint })
    }
    return { preview: null, error: error instanceof SshFailure ? error.summary : error.message }
  }
}
