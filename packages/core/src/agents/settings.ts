import { eq } from 'drizzle-orm'
import type { Runtime, Tx } from '../context.ts'
import type { Db } from '../db/client.ts'
import { type AgentSettings, agentSettings } from './tables.ts'

/** How agents of a tenant that chose nothing are judged. The table's columns have the same defaults. */
export const DEFAULT_SETTINGS = {
  heartbeatS: 30,
  staleAfterS: 120,
  offlineAfterS: 300,
  massSilencePercent: 50,
  massSilenceNodes: 10,
  deregisterAfterDays: null,
} as const satisfies Omit<AgentSettings, 'tenantId' | 'updatedAt'>

/** The settings that hold for a tenant. */
export async function readAgentSettings(db: Db | Tx, tenantId: string): Promise<Omit<AgentSettings, 'tenantId' | 'updatedAt'>> {
  const [row] = await db.select().from(agentSettings).where(eq(agentSettings.tenantId, tenantId))
  return row ?? DEFAULT_SETTINGS
}

/** Seconds between heartbeats that the agents of a tenant are asked for, of the tenants that chose something. */
export async function readHeartbeatIntervals({ db }: Pick<Runtime, 'db'>): Promise<Map<string, number>> {
  const rows = await db.select({ tenantId: agentSettings.tenantId, heartbeatS: agentSettings.heartbeatS }).from(agentSettings)
  return new Map(rows.map(({ tenantId, heartbeatS }) => [tenantId, heartbeatS]))
}
