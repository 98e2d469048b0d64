import { randomUUID } from 'node:crypto'
import type { Ctx } from '@muster/core/context'
import { DomainError } from '@muster/core/errors'
import { retryTransient } from '@muster/core/retry-transient'
import {
  type ClaimedSlurmOperation,
  finishSlurmOperation,
  recordSlurmOperationNodes,
  recordSlurmSaltJob,
  recordSlurmStep,
  releaseSlurmOperation,
  renewSlurmOperation,
  type SlurmOperation,
  type SlurmOperationClaim,
  type SlurmStepProgress,
} from '@muster/core/slurm-operations'
import { HostlistError } from '@muster/slurm'
import { InvalidSlurmWord } from '@muster/slurm/commands'
import { ConfigError } from '@muster/slurm/config'
import { slurmNodeScale } from '../../metrics.ts'
import type { NodeConfig } from '../../worker.ts'
import type { ControllerSessions } from '../controller-sessions.ts'
import { openSalt } from '../salt/open-salt.ts'
import {
  OperationCanceled,
  type OperationContext,
  OperationFailure,
  OperationTakenOver,
  type Step,
  type Workflow,
} from './operation.ts'
import { sessionsOf } from './sessions.ts'
import { startRun } from './start-run.ts'

const RENEW_EVERY_MS = 10_000

export type OperationDeps = {
  config: Pick<NodeConfig, 'LOCAL_TARGETS'>
  controllers: ControllerSessions
  stopping: AbortSignal
  renewEveryMs?: number
}

export const newClaim = (id: string): SlurmOperationClaim => ({ id, token: randomUUID() })

/**
 * Executes the steps of a claimed operation that have not ended, and ends it. After a failure or a cancel, the undo steps run; a worker
 * that continues such an operation runs only these. Leaves the operation to another worker when this one stops or loses its claim.
 */
export async function runOperation(
  ctx: Ctx,
  claim: SlurmOperationClaim,
  claimed: ClaimedSlurmOperation,
  workflow: Workflow,
  deps: OperationDeps,
): Promise<void> {
  let { row } = claimed
  const aborted = new AbortController()
  const signal = AbortSignal.any([deps.stopping, aborted.signal])
  const assertClaimed = (isClaimed: boolean) => {
    if (isClaimed) return
    aborted.abort(new OperationTakenOver())
    throw aborted.signal.reason
  }
  const lookAtCancel = () => {
    if (row.cancelRequestedAt && row.error === null)
      aborted.abort(new OperationCanceled(`Canceled by ${row.cancelRequestedByName}.`))
  }
  const renew = setInterval(async () => {
    try {
      const renewed = await retryTransient(() => renewSlurmOperation(ctx, claim))
      assertClaimed(renewed !== null)
      row = { ...row, cancelRequestedAt: renewed!.cancelRequestedAt, cancelRequestedByName: renewed!.cancelRequestedByName }
      lookAtCancel()
    } catch (error) {
      aborted.abort(error)
    }
  }, deps.renewEveryMs ?? RENEW_EVERY_MS)
  const recordFailure = async (error: string) =>
    assertClaimed((await retryTransient(() => renewSlurmOperation(ctx, { ...claim, error }))) !== null)
  const record = async (step: SlurmStepProgress) => {
    const steps = await retryTransient(() => recordSlurmStep(ctx, { ...claim, step }))
    assertClaimed(steps !== null)
    row = { ...row, steps: steps! }
  }
  const contextOf = (name: string, signal: AbortSignal): OperationContext => ({
    ctx,
    row,
    step: name,
    cluster: claimed.cluster,
    nodes: claimed.nodes,
    signal,
    startRun: (template, nodeIds, extraVars, part = 'run') =>
      startRun(
        ctx,
        `slurm-operation/${row.id}/${name}/${part}`,
        { template, nodeIds, extraVars, reason: `${row.kind} of the cluster ${claimed.cluster.name} (${row.createdByName})` },
        { signal, onStart: (runId) => record({ name, state: 'RUNNING', runId }) },
      ),
    ...sessionsOf(ctx, claimed.cluster, deps.controllers, signal, ({ nodeId, message }) => {
      const host = claimed.nodes.find((node) => node.nodeId === nodeId)
      return record({ name, state: 'RUNNING', message: host ? `${host.name}: ${message}` : message })
    }),
    salt: () => openSalt(ctx, claimed.cluster, { localTargets: deps.config.LOCAL_TARGETS, signal }),
    async recordSaltJob(job, state) {
      const saltJobs = await retryTransient(() => recordSlurmSaltJob(ctx, { ...claim, job, state }))
      assertClaimed(saltJobs !== null)
      row = { ...row, saltJobs: saltJobs! }
    },
    async updateNodes(nodes) {
      assertClaimed(await retryTransient(() => recordSlurmOperationNodes(ctx, { ...claim, nodes })))
      for (const { name, ...changes } of nodes) {
        const node = claimed.nodes.find((one) => one.name === name)
        const given = Object.entries(changes).filter(([, value]) => value !== undefined)
        if (node) Object.assign(node, Object.fromEntries(given))
      }
    },
    report: (message) => record({ name, state: 'RUNNING', message }),
  })
  const execute = async (steps: Step[], signal: AbortSignal) => {
    for (const step of steps) {
      if (row.steps.some(({ name, state }) => name === step.name && state === 'DONE')) continue
      signal.throwIfAborted()
      await record({ name: step.name, state: 'RUNNING' })
      try {
        await step.run(contextOf(step.name, signal))
      } catch (error) {
        // Errors of the abort are of the caller.
        const failure = signal.aborted ? error : asFailure(error)
        if (failure instanceof OperationFailure) await record({ name: step.name, state: 'FAILED', message: failure.message })
        throw failure
      }
      await record({ name: step.name, state: 'DONE' })
    }
  }
  beginCounting(row, claimed.cluster.name)
  try {
    lookAtCancel()
    if (row.error === null) {
      try {
        await execute(workflow.steps, signal)
      } catch (error) {
        // A step may fail because of the abort, with another error.
        const cause = signal.aborted ? signal.reason : error
        if (!(cause instanceof OperationFailure)) throw cause
        row = { ...row, error: cause.message }
        await recordFailure(cause.message)
      }
    }
    if (row.error !== null) await undo()
    const finished = await retryTransient(() => finishSlurmOperation(ctx, claim))
    if (finished) countScaledNodes(finished, claimed.cluster.name)
  } catch (error) {
    if (error instanceof OperationTakenOver) return
    if (!deps.stopping.aborted) throw error
    await retryTransient(() => releaseSlurmOperation(ctx, claim))
  } finally {
    clearInterval(renew)
  }

  /** Every undo step runs, also after another one failed: the error names what is left. */
  async function undo(): Promise<void> {
    const undoSignal = AbortSignal.any([deps.stopping, lostClaim(aborted.signal)])
    const left: string[] = []
    for (const step of workflow.undo) {
      try {
        await execute([step], undoSignal)
      } catch (error) {
        if (!(error instanceof OperationFailure)) throw error
        left.push(`${step.name}: ${error.message}`)
      }
    }
    if (left.length > 0) {
      const error = `${row.error} Not undone: ${left.join(' ')}`
      await recordFailure(error)
    }
  }
}

/** Begins the series of a cluster at 0: the rate of a series that begins with a failure does not have that failure. */
function beginCounting({ kind }: SlurmOperation, cluster: string): void {
  if (isScaling(kind)) for (const counter of Object.values(slurmNodeScale)) counter.inc({ cluster }, 0)
}

const isScaling = (kind: SlurmOperation['kind']): boolean => kind === 'CREATE' || kind === 'SCALE_OUT'

function countScaledNodes({ kind, nodeCount, problemCount, error }: SlurmOperation, cluster: string): void {
  if (!isScaling(kind)) return
  const failed = error === null ? problemCount : nodeCount
  slurmNodeScale.attempts.inc({ cluster }, nodeCount)
  slurmNodeScale.failed.inc({ cluster }, failed)
  slurmNodeScale.success.inc({ cluster }, nodeCount - failed)
}

/** What will not change when the step is repeated ends the operation: input that does not fit the cluster as it is now. */
function asFailure(error: unknown): unknown {
  const isFinal = [DomainError, ConfigError, HostlistError, InvalidSlurmWord].some((kind) => error instanceof kind)
  return isFinal ? new OperationFailure((error as Error).message, { cause: error }) : error
}

/** Fires with `signal` unless a cancel fired it: undoing goes on. */
function lostClaim(signal: AbortSignal): AbortSignal {
  const lost = new AbortController()
  const pass = () => {
    if (!(signal.reason instanceof OperationFailure)) lost.abort(signal.reason)
  }
  if (signal.aborted) pass()
  else signal.addEventListener('abort', pass)
  return lost.signal
}
