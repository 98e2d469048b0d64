import { DEFAULT_SETTINGS, readHeartbeatIntervals } from '@muster/core/agents'
import type { Runtime } from '@muster/core/registry'

const OLD_MS = 1000

/** Seconds between heartbeats that a tenant's agents are asked for, from memory of a second. */
export function rememberIntervals(runtime: Runtime): (tenantId: string) => Promise<number> {
  let known = new Map<string, number>()
  let readAt = 0
  return async (tenantId) => {
    if (Date.now() - readAt >= OLD_MS) {
      readAt = Date.now()
      // Whose heartbeat is stored has to hear so, whatever becomes of this.
      known = await readHeartbeatIntervals(runtime).catch(() => known)
    }
    return known.get(tenantId) ?? DEFAULT_SETTINGS.heartbeatIntervalSeconds
  }
}
