import type { Ctx } from '@muster/core/context'
import { DomainError } from '@muster/core/errors'
import type { QueueEntry } from '@muster/core/queue'
import { retryTransient } from '@muster/core/retry-transient'
import { recordSlurmReadiness, type SlurmReadinessNode, startSlurmReadinessCheck } from '@muster/core/slurm-scaling'
import type { ControllerSessions } from '../slurm/controller-sessions.ts'
import { type CheckContext, OperationFailure } from '../slurm/operations/operation.ts'
import { checkNodes, checkTarget } from '../slurm/operations/readiness/check-nodes.ts'
import { sessionsOf } from '../slurm/operations/sessions.ts'
import { QueryFailure } from '../slurm/run-query.ts'
import { openSalt } from '../slurm/salt/open-salt.ts'
import { type NodeConfig, type WorkerDeps, workerCtx } from '../worker.ts'

type Deps = Omit<WorkerDeps<NodeConfig>, 'listener'> & { controllers: ControllerSessions; stopping: AbortSignal }
type Claimed = NonNullable<Awaited<ReturnType<typeof startSlurmReadinessCheck>>>

/** A new cluster has no controllers that its nodes must reach. */
const NEW = { id: '', name: 'new', controllerNodeId: null, backupNodeId: null, programFolder: null }

/** Checks nodes over SSH before they join a cluster, and records each when it was checked. */
export function slurmReadinessHandler(deps: Deps): (entry: QueueEntry) => Promise<void> {
  return async (entry) => {
    const ctx = workerCtx(deps, entry)
    const claimed = await retryTransient(() => startSlurmReadinessCheck(ctx, { id: entry.id }))
    if (!claimed) return
    const { id } = claimed.check
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
        return retryTransient(() => recordSlurmReadiness(ctx, { id, nodes }))
      })
      // Awaited below; until then a failure must not count as unhandled.
      writing.catch(() => {})
    }
    const error = await check(ctx, deps, claimed, onChecked)
    await writing
    await retryTransient(() => recordSlurmReadiness(ctx, { id, nodes, error }))
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
    const wanted = cluster ? await checkTarget(op) : { controllers: [], release: null }
    await checkNodes(op, check.nodes.map(configured), wanted, onChecked)
    return null
  } catch (error) {
    if (signal.aborted) return 'The worker was stopped during the check; try again.'
    if ([DomainError, OperationFailure, QueryFailure].some((kind) => error instanceof kind)) return (error as Error).message
    throw error
  }
}

const configured = ({ nodeId, config }: SlurmReadinessNode) => ({ ...config, nodeId })
