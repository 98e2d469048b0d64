import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit, changeOf } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { agentAudit } from './audit-actions.ts'
import { agentPermissions } from './permissions.ts'
import { readAgentSettings } from './settings.ts'
import { type AgentSettings, agentSettings } from './tables.ts'

const whole = (least: number, most: number) =>
  z.number().int('must be a whole number').min(least, `must be at least ${least}`).max(most, `must be at most ${most}`)

export const UpdateAgentSettingsInput = z.object({
  /** Seconds between heartbeats. */
  heartbeatIntervalSeconds: whole(1, 3600).optional(),
  /** Seconds without a heartbeat until an agent is STALE, and OFFLINE. */
  staleAfterSeconds: whole(2, 86_400).optional(),
  offlineAfterSeconds: whole(3, 604_800).optional(),
  /** A mass outage is more than this share of a tenant or cluster, and at least this many nodes, silent at once. */
  massOutagePercent: whole(1, 100).optional(),
  massOutageMinNodes: whole(2, 1_000_000).optional(),
  /** Days OFFLINE until an agent is deregistered automatically. Null: never. */
  deregisterAfterDays: whole(1, 3650).nullish(),
})

/**
 * Changes the heartbeat interval and the thresholds of the tenant's agents; omitted fields stay unchanged.
 * @throws InvalidInput when STALE would precede a second heartbeat, or OFFLINE would precede STALE
 */
export async function updateAgentSettings(ctx: Ctx, input: z.input<typeof UpdateAgentSettingsInput>): Promise<AgentSettings> {
  authorize(ctx, agentPermissions.settings)
  const changes = parseInput(UpdateAgentSettingsInput, input)
  return inTransaction(ctx, async (tx) => {
    // Serializes concurrent updates, so that the checked values are the written ones.
    await tx.execute(sql`select 1 from tenants where id = ${ctx.tenantId} for update`)
    const before = await readAgentSettings(tx, ctx.tenantId)
    const settings = { ...before, ...changes, tenantId: ctx.tenantId, updatedAt: sql`now()` }
    // One late heartbeat is not an outage.
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
    await audit(tx, ctx, agentAudit.updateSettings, { id: ctx.tenantId }, changes, {
      change: changeOf(agentSettings, before, row!),
    })
    return row!
  })
}
