import { judgeAgents, keepAgentHistory } from '@muster/core/agents'
import type { Runtime } from '@muster/core/context'
import { type Reconciler, reconcile } from './reconcile.ts'

// Half of the second within which a silence beyond its threshold is to be seen.
const JUDGE_EVERY_MS = 500
const ALL_EVERY_MS = 30_000
const HISTORY_EVERY_MS = 10 * 60_000

/** Calls agents stale, offline, active and drained as their heartbeats say, in all tenants. */
export function reconcileAgents(runtime: Runtime): Reconciler {
  let allAt = 0
  return reconcile('agents', JUDGE_EVERY_MS, runtime.log, async () => {
    const isQuick = Date.now() < allAt
    if (!isQuick) allAt = Date.now() + ALL_EVERY_MS
    await judgeAgents(runtime, undefined, isQuick)
  })
}

/** Makes room for the history of the days to come, and drops the old. */
export function reconcileAgentHistory(runtime: Runtime): Reconciler {
  return reconcile('history of agents', HISTORY_EVERY_MS, runtime.log, async () => {
    const counts = await keepAgentHistory(runtime)
    if (counts.made + counts.dropped > 0) runtime.log.debug(counts, 'partitions of the history of agents')
  })
}
