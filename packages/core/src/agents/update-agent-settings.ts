import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { agentAudit } from './audit-actions.ts'
import { agentPermissions } from './permissions.ts'
import { readAgentSettings } from './settings.ts'
import { type AgentSettings, agentSettings } from './tables.ts'

const whole = (least: number, most: number) =>
  z.number().int('must be a whole number').min(least, `must be at least ${least}`).max(most, `must be at most ${most}`)

export const UpdateAgentSettingsInput = z.object({
  /** Seconds between heartbeats that agents are asked for. */
  heartbeatIntervalSeconds: whole(1, 3600).optional(),
  /** Seconds of silence after which an agent is STALE, and OFFLINE. */
  staleAfterSeconds: whole(2, 86_400).optional(),
  offlineAfterSeconds: whole(3, 604_800).optional(),
  /** More than this share of a tenant or cluster, and at least so many nodes, silent at once: taken for a fault of ours. */
  massOutagePercent: whole(1, 100).optional(),
  massOutageMinNodes: whole(2, 1_000_000).optional(),
  /** Days OFFLINE after which an agent is deregistered by itself. Null: never. */
  deregisterAfterDays: whole(1, 3650).nullish(),
})

/**
 * Change how often the tenant's agents beat, and when they are called stale and offline; what is not given stays.
 * @throws InvalidInput stale would come before a second heartbeat could, or offline before stale
 */
export async function updateAgentSettings(ctx: Ctx, input: z.input<typeof UpdateAgentSettingsInput>): Promise<AgentSettings> {
  authorize(ctx, agentPermissions.settings)
  const changes = parseInput(UpdateAgentSettingsInput, input)
  return inTransaction(ctx, async (tx) => {
    // Two that change a bound each take turns, so that what is checked here is what is written.
    await tx.execute(sql`select 1 from tenants where id = ${ctx.tenantId} for update`)
    const settings = { ...(await readAgentSettings(tx, ctx.tenantId)), ...changes, tenantId: ctx.tenantId, updatedAt: sql`now()` }
    // Who is late by one heartbeat is not silent yet.
    if (settings.staleAfterSeconds < 2 * settings.heartbeatIntervalSeconds)
      throw new InvalidInput([
        {
          path: 'staleAfterSeconds',
          message: `must be at least twice the ${settings.heartbeatIntervalSeconds} s between heartbeats`,
        },
      ])
    if (settings.offlineAfterSeconds <= settings.staleAfterSeconds)
      throw new InvalidInput([
        { path: 'offlineAfterSeconds', message: `must be more than the ${settings.staleAfterSeconds} s until STALE` },
      ])
    const [row] = await tx
      .insert(agentSettings)
      .values(settings)
      .onConflictDoUpdate({ target: agentSettings.tenantId, set: settings })
      .returning()
    await audit(tx, ctx, agentAudit.updateSettings, { id: ctx.tenantId }, changes)
    return row!
  })
}
