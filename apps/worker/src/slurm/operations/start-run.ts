import { setTimeout } from 'node:timers/promises'
import { slurmOperationMessages } from '@muster/core/clusters'
import type { Ctx } from '@muster/core/context'
import { DomainError } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import { retryTransient } from '@muster/core/retry-transient'
import { cancelJobRun, runJob } from '@muster/core/runs'
import { and, eq } from 'drizzle-orm'
import { type FinishedRun, OperationFailure, RunRefused } from './operation.ts'

const POLL_MS = 500
/** A run is started again this many times after its worker was lost. */
const MAX_LOST = 5

type Request = { template: string; nodeIds: string[]; extraVars: Record<string, unknown>; reason: string }

/**
 * Starts a run once per key and waits for its end: a repeated call finds the same run. A run that ended with its worker is started again.
 * @param onStart gets the ID of the run
 * @throws OperationFailure the run cannot be started, was canceled, or its worker was lost several times; the signal's reason
 */
export async function startRun(
  ctx: Ctx,
  key: string,
  request: Request,
  { signal, onStart }: { signal: AbortSignal; onStart(runId: string): Promise<void> },
): Promise<FinishedRun> {
  for (let attempt = 0; attempt < MAX_LOST; attempt++) {
    signal.throwIfAborted()
    const { id } = await start(ctx, { ...request, idempotencyKey: `${key}/${attempt}` })
    await onStart(id)
    const finished = await waitForEnd(ctx, id, signal)
    if (finished.run.endCause === 'cancel')
      throw new OperationFailure(slurmOperationMessages.runCanceled({ number: finished.run.number }))
    if (finished.run.endCause !== 'lost') return finished
  }
  throw new OperationFailure(`The worker of the job run was lost ${MAX_LOST} times. Check the log of the workers.`)
}

async function start(ctx: Ctx, input: Parameters<typeof runJob>[1] & { idempotencyKey: string }): Promise<{ id: string }> {
  // A repeated step may name fewer nodes than before, which would be other input for the same key.
  const { idempotencyKeys: keys } = schema
  const [known] = await retryTransient(() =>
    ctx.db
      .select({ result: keys.result })
      .from(keys)
      .where(and(eq(keys.tenantId, ctx.tenantId), eq(keys.verb, 'runJob'), eq(keys.key, input.idempotencyKey))),
  )
  const [id] = (known?.result ?? []) as string[]
  if (id !== undefined) return { id }
  try {
    return await retryTransient(() => runJob(ctx, input))
  } catch (error) {
    if (error instanceof DomainError) throw new RunRefused(`The job run cannot start: ${error.message}`)
    throw error
  }
}

/** Cancels the run when the operation is canceled; leaves it when the worker stops. */
async function waitForEnd(ctx: Ctx, id: string, signal: AbortSignal): Promise<FinishedRun> {
  const { jobRuns, jobRunHosts } = schema
  let isCanceled = false
  for (;;) {
    const [run] = await retryTransient(() =>
      ctx.db
        .select()
        .from(jobRuns)
        .where(and(eq(jobRuns.tenantId, ctx.tenantId), eq(jobRuns.id, id))),
    )
    if (!run) throw new OperationFailure(slurmOperationMessages.runDeleted())
    if (run.finishedAt) {
      signal.throwIfAborted()
      const hosts = await retryTransient(() => ctx.db.select().from(jobRunHosts).where(eq(jobRunHosts.jobRunId, id)))
      return { run, hosts: new Map(hosts.flatMap((host) => (host.nodeId ? [[host.nodeId, host]] : []))) }
    }
    if (signal.aborted && !isCanceled) {
      if (!(signal.reason instanceof OperationFailure)) throw signal.reason
      isCanceled = true
      await retryTransient(() => cancelJobRun(ctx, { id })).catch(ignoreEnded)
    }
    await setTimeout(POLL_MS, null, isCanceled ? {} : { signal }).catch(() => {})
  }
}

/** The run ended at the same time. */
function ignoreEnded(error: unknown): void {
  if (!(error instanceof DomainError)) throw error
}
