import { type Ctx, type SystemCtx, tenantCtx } from '@muster/core/context'
import type { Listener } from '@muster/core/events'
import type { LocalTarget } from '@muster/core/outbound'
import type { QueueEntry } from '@muster/core/queue'

/** Dependencies of every handler. `stopping` fires when the process stops: handlers then abort their work. */
export type WorkerDeps<Config> = {
  runtime: SystemCtx
  config: Config
  /** Identifies this process: host, PID and a random suffix. */
  workerId: string
  listener: Listener
  stopping: AbortSignal
}

/** Settings of handlers that connect to nodes. Secret stores may have the listed local addresses. */
export type NodeConfig = { SSH_TIMEOUT: number; LOCAL_TARGETS: readonly LocalTarget[] }

/** A context with the worker as actor, in the tenant of a queue entry. */
export function workerCtx(deps: { runtime: SystemCtx; workerId: string }, entry: QueueEntry): Ctx {
  return tenantCtx(deps.runtime, entry.tenantId, { kind: 'worker', id: deps.workerId, name: deps.workerId })
}
