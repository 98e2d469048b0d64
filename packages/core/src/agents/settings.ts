import { eq } from 'drizzle-orm'
import type { SystemCtx, Tx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { type AgentSettings, agentSettings } from './tables.ts'

/** Settings of tenants that changed none. The table's columns have the same defaults. */
export const DEFAULT_SETTINGS = {
  heartbeatIntervalSeconds: 30,
  staleAfterSeconds: 120,
  offlineAfterSeconds: 300,
  massOutagePercent: 50,
  massOutageMinNodes: 10,
  deregisterAfterDays: null,
} as const satisfies Omit<AgentSettings, 'tenantId' | 'updatedAt'>

/** The agent settings of a tenant. */
export async function readAgentSettings(db: Db | Tx, tenantId: string): Promise<Omit<AgentSettings, 'tenantId' | 'updatedAt'>> {
  const [row] = await db.select().from(agentSettings).where(eq(agentSettings.tenantId, tenantId))
  return row ?? DEFAULT_SETTINGS
}

/** Heartbeat intervals in seconds, by tenant, for tenants that changed a setting. */
export async function readHeartbeatIntervals({ db }: Pick<SystemCtx, 'db'>): Promise<Map<string, number>> {
  const rows = await db
    .select({ tenantId: agentSettings.tenantId, heartbeatIntervalSeconds: agentSettings.heartbeatIntervalSeconds })
    .from(agentSettings)
  return new Map(rows.map(({ tenantId, heartbeatIntervalSeconds }) => [tenantId, heartbeatIntervalSeconds]))
}
