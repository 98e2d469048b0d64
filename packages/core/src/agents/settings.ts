import { eq } from 'drizzle-orm'
import type { Tx } from '../context.ts'
import type { Db } from '../db/client.ts'
import { type AgentSettings, agentSettings } from './tables.ts'

/** How agents of a tenant that chose nothing are judged. The table's columns have the same defaults. */
export const DEFAULT_SETTINGS = {
  staleAfterS: 120,
  offlineAfterS: 300,
  massSilencePercent: 50,
  massSilenceNodes: 10,
  deregisterAfterDays: null,
} as const satisfies Omit<AgentSettings, 'tenantId' | 'updatedAt'>

/** Seconds between heartbeats that the API asks agents for. */
export const HEARTBEAT_S = 30

/** The settings that hold for a tenant. */
export async function readAgentSettings(db: Db | Tx, tenantId: string): Promise<Omit<AgentSettings, 'tenantId' | 'updatedAt'>> {
  const [row] = await db.select().from(agentSettings).where(eq(agentSettings.tenantId, tenantId))
  return row ?? DEFAULT_SETTINGS
}
