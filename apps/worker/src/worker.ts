import type { Actor, Ctx, Runtime } from '@muster/core/context'
import type { Listener } from '@muster/core/events'
import type { QueueEntry } from '@muster/core/queue'

/** What every handler is given. `stopping` fires when the process is to end: then work under way is given up. */
export type WorkerDeps<Config> = {
  runtime: Runtime
  config: Config
  /** Names this process: host, pid and something random. */
  workerId: string
  listener: Listener
  stopping: AbortSignal
}

/** The worker as the one who acts, inside the tenant of a queue entry. */
export function workerCtx(deps: { runtime: Runtime; workerId: string }, entry: QueueEntry): Ctx {
  const actor: Actor = { kind: 'worker', id: deps.workerId, name: deps.workerId }
  return { ...deps.runtime, actor, tenantId: entry.tenantId }
}
