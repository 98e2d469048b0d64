import { createHash, randomBytes } from 'node:crypto'
import { and, eq, sql } from 'drizzle-orm'
import { audit } from '../audit/index.ts'
import { slurmClusterChanged } from '../clusters/change-events.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { lockCluster } from '../slurm-operations/index.ts'
import { setSecretVar, unsetSecretVar } from '../variables/index.ts'
import { variableScopes } from '../variables/tables.ts'
import { slurmPowerAudit } from './audit-actions.ts'
import { slurmPowerPermissions } from './permissions.ts'
import { type PowerSavingSettings, slurmPowerRequests, slurmPowerSavings } from './tables.ts'

/** The variable of the controllers that the role slurm_power reads. */
const TOKEN = 'slurm_power_token'
const PREFIX = 'msp_'

export const hashPowerToken = (token: string): string => createHash('sha256').update(token).digest('hex')

type OfCluster = { clusterId: string; controllerIds: string[] }

/**
 * Issues a token with which the controllers of a cluster may power its nodes, and stores it, encrypted, as a variable of each controller:
 * only runs there get it. Earlier tokens stay valid until `completePowerSaving`. A repeated call issues another one.
 */
export async function preparePowerSaving(
  ctx: Ctx,
  { clusterId, controllerIds, settings }: OfCluster & { settings: PowerSavingSettings },
): Promise<void> {
  authorize(ctx, slurmPowerPermissions.report)
  const token = PREFIX + randomBytes(32).toString('base64url')
  const hash = hashPowerToken(token)
  await inTransaction(ctx, async (tx, ctx) => {
    const cluster = await lockCluster(tx, ctx, clusterId)
    await tx
      .insert(slurmPowerSavings)
      .values({ clusterId, tenantId: ctx.tenantId, settings, tokenHashes: [hash] })
      .onConflictDoUpdate({
        target: slurmPowerSavings.clusterId,
        set: {
          tokenHashes: sql`${slurmPowerSavings.tokenHashes} || ${hash}::text`,
          tokenIssuedAt: sql`now()`,
          updatedAt: sql`now()`,
        },
      })
    await audit(tx, ctx, slurmPowerAudit.issue_token, cluster)
  })
  for (const nodeId of controllerIds) await setSecretVar(ctx, { nodeId, name: TOKEN, value: token })
}

/** Records that the controllers use the settings and the newest token. Earlier tokens are revoked. */
export async function completePowerSaving(
  ctx: Ctx,
  { clusterId, settings }: { clusterId: string; settings: PowerSavingSettings },
): Promise<void> {
  authorize(ctx, slurmPowerPermissions.report)
  await inTransaction(ctx, async (tx, ctx) => {
    const cluster = await lockCluster(tx, ctx, clusterId)
    const newest = sql`${slurmPowerSavings.tokenHashes}[array_upper(${slurmPowerSavings.tokenHashes}, 1):]`
    await tx
      .update(slurmPowerSavings)
      .set({ settings, tokenHashes: newest, enabledAt: sql`coalesce(${slurmPowerSavings.enabledAt}, now())` })
      .where(scopeOf(ctx, clusterId))
    ctx.notify(slurmClusterChanged(cluster))
  })
}

/** Revokes all tokens of a cluster, and removes its settings. */
export async function removePowerSaving(ctx: Ctx, { clusterId, controllerIds }: OfCluster): Promise<void> {
  authorize(ctx, slurmPowerPermissions.report)
  await inTransaction(ctx, async (tx, ctx) => {
    const cluster = await lockCluster(tx, ctx, clusterId)
    const removed = await tx.delete(slurmPowerSavings).where(scopeOf(ctx, clusterId)).returning()
    await tx
      .delete(slurmPowerRequests)
      .where(and(visibleTo(ctx, slurmPowerRequests), eq(slurmPowerRequests.clusterId, clusterId)))
    if (removed.length > 0) await audit(tx, ctx, slurmPowerAudit.revoke_tokens, cluster)
    ctx.notify(slurmClusterChanged(cluster))
  })
  for (const nodeId of controllerIds) if (await hasToken(ctx, nodeId)) await unsetSecretVar(ctx, { nodeId, name: TOKEN })
}

const scopeOf = (ctx: Ctx, clusterId: string) =>
  and(visibleTo(ctx, slurmPowerSavings), eq(slurmPowerSavings.clusterId, clusterId))

async function hasToken(ctx: Ctx, nodeId: string): Promise<boolean> {
  const [scope] = await ctx.db
    .select({ secrets: variableScopes.secrets })
    .from(variableScopes)
    .where(and(visibleTo(ctx, variableScopes), eq(variableScopes.nodeId, nodeId)))
  return scope !== undefined && TOKEN in scope.secrets
}
