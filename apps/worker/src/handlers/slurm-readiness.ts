import { randomUUID } from 'node:crypto'
import type { Ctx } from '@muster/core/context'
import { DomainError } from '@muster/core/errors'
import type { QueueEntry } from '@muster/core/queue'
import { retryTransient } from '@muster/core/retry-transient'
import {
  recordSlurmReadiness,
  type SlurmReadinessNode,
  type SlurmReadinessProgress,
  startSlurmReadinessCheck,
} from '@muster/core/slurm-scaling'
import type { ControllerSessions } from '../slurm/controller-sessions.ts'
import { type CheckContext, OperationFailure } from '../slurm/operations/operation.ts'
import { checkNodes, checkTarget } from '../slurm/operations/readiness/check-nodes.ts'
import { sessionsOf } from '../slurm/operations/sessions.ts'
import { QueryFailure } from '../slurm/run-query.ts'
import { openSalt } from '../slurm/salt/open-salt.ts'
import { type NodeConfig, type WorkerDeps, workerCtx } from '../worker.ts'

type Deps = Omit<WorkerDeps<NodeConfig>, 'listener'> & { controllers: ControllerSessions; stopping: AbortSignal }
type Claimed = NonNullable<Awaited<ReturnType<typeof startSlurmReadinessCheck>>>

const RENEW_EVERY_MS = 10_000

/** A new cluster has no controllers that its nodes must reach. */
const NEW = { id: '', name: 'new', controllerNodeId: null, backupNodeId: null, programFolder: null }

/** Checks nodes over SSH before they join a cluster, and records each when it was checked. Another worker continues when this one is lost. */
export function slurmReadinessHandler(deps: Deps): (entry: QueueEntry) => Promise<void> {
  return async (entry) => {
    const ctx = workerCtx(deps, entry)
    const claim = { id: entry.id, token: randomUUID() }
    const claimed = await retryTransient(() => startSlurmReadinessCheck(ctx, claim))
    if (!claimed) return
    const lost = new AbortController()
    const signal = AbortSignal.any([deps.stopping, lost.signal])
    const record = async (progress: SlurmReadinessProgress) => {
      if (!(await retryTransient(() => recordSlurmReadiness(ctx, { ...claim, ...progress })))) lost.abort()
    }
    const renew = setInterval(() => record({}).catch((error) => lost.abort(error)), RENEW_EVERY_MS)
    let nodes = claimed.check.nodes
    // One write at a time; findings in between are in the next one.
    let isStored = true
    let writing = Promise.resolve()
    const onChecked: Parameters<typeof checkNodes>[3] = (name, checks) => {
      nodes = nodes.map((node) => (node.config.name === name ? { ...node, checks } : node))
      if (!isStored) return
      isStored = false
      writing = writing.then(() => {
        isStored = true
        return record({ nodes })
      })
      // Awaited below; until then a failure must not count as unhandled.
      writing.catch(() => {})
    }
    try {
      const error = await check(ctx, { ...deps, stopping: signal }, claimed, onChecked)
      await writing
      await record({ nodes, error })
    } catch (error) {
      // The claim expires, and another worker continues.
      if (signal.aborted) return
      await record({ nodes, error: 'The check failed unexpectedly. The log of the worker has the reason. Try again.' })
      throw error
    } finally {
      clearInterval(renew)
    }
  }
}

/** @returns why the check could not be made; null when it was */
async function check(
  ctx: Ctx,
  { config, controllers, stopping: signal }: Deps,
  { check, cluster }: Claimed,
  onChecked: Parameters<typeof checkNodes>[3],
): Promise<string | null> {
  const target = cluster ?? { ...NEW, install: { prefix: check.prefix, repositoryUrl: null, repositoryKey: null } }
  const limits = { localTargets: config.LOCAL_TARGETS, signal }
  const settings = cluster ?? check.salt
  const salt = async () => settings && openSalt(ctx, settings, limits)
  const op: CheckContext = { ctx, signal, cluster: target, salt, ...sessionsOf(ctx, target, controllers, signal) }
  try {
    const wanted = cluster ? await checkTarget({ ...op, cluster }) : { controllers: [], release: null }
    const open = check.nodes.filter(({ checks }) => checks === null)
    await checkNodes(op, open.map(configured), wanted, onChecked)
    return null
  } catch (error) {
    signal.throwIfAborted()
    if ([DomainError, OperationFailure, QueryFailure].some((kind) => error instanceof kind)) return (error as Error).message
    throw error
  }
}

const configured = ({ nodeId, config }: SlurmReadinessNode) => ({ ...config, nodeId })
