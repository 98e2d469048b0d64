import { DEFAULT_SETTINGS, readHeartbeatIntervals } from '@muster/core/agents'
import type { Runtime } from '@muster/core/registry'

const MAX_AGE_MS = 1000

/** Returns the heartbeat interval of a tenant in seconds, cached for one second. */
export function createIntervalCache(runtime: Runtime): (tenantId: string) => Promise<number> {
  let intervals = new Map<string, number>()
  let readAt = 0
  return async (tenantId) => {
    if (Date.now() - readAt >= MAX_AGE_MS) {
      readAt = Date.now()
      // A failed read must not fail a heartbeat that is stored already: keep the previous intervals.
      intervals = await readHeartbeatIntervals(runtime).catch(() => intervals)
    }
    return intervals.get(tenantId) ?? DEFAULT_SETTINGS.heartbeatIntervalSeconds
  }
}
