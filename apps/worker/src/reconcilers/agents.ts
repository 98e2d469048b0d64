import { reconcileAgentStates } from '@muster/core/agents'
import type { SystemCtx } from '@muster/core/context'
import { rollUpHeartbeatHistory } from '@muster/core/heartbeats'
import { type Reconciler, reconcile } from './reconcile.ts'

// State transitions must be visible within a second.
const STATES_EVERY_MS = 500
const ALL_EVERY_MS = 30_000
const HISTORY_EVERY_MS = 10 * 60_000

/** Reconciles the states of agents with their heartbeats, in all tenants. */
export function reconcileAgents(runtime: SystemCtx): Reconciler {
  let allAt = 0
  return reconcile('agents', STATES_EVERY_MS, runtime.log, async () => {
    const isIncremental = Date.now() < allAt
    if (!isIncremental) allAt = Date.now() + ALL_EVERY_MS
    await reconcileAgentStates(runtime, undefined, isIncremental)
  })
}

/** Creates heartbeat history partitions for the coming days and drops old ones. */
export function reconcileAgentHistory(runtime: SystemCtx): Reconciler {
  return reconcile('heartbeat history', HISTORY_EVERY_MS, runtime.log, async () => {
    const counts = await rollUpHeartbeatHistory(runtime)
    if (counts.created + counts.dropped > 0) runtime.log.debug(counts, 'created or dropped heartbeat history partitions')
  })
}
