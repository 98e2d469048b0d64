import { and, eq, isNull, lte, or, sql } from 'drizzle-orm'
import { type SlurmCluster, slurmClusters } from '../clusters/tables.ts'
import { authorize, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import { slurmReadinessCheckChanged } from './change-events.ts'
import { slurmScalePermissions } from './permissions.ts'
import { type SlurmReadinessCheck, type SlurmReadinessNode, slurmReadinessChecks } from './tables.ts'

const unfinished = (ctx: Ctx, id: string) =>
  and(visibleTo(ctx, slurmReadinessChecks), eq(slurmReadinessChecks.id, id), isNull(slurmReadinessChecks.finishedAt))

/** The worker renews a claim every 10 s. Another worker continues after it expires. */
const CLAIM_SECONDS = 60
const claimEnd = sql`now() + make_interval(secs => ${CLAIM_SECONDS})`

export type SlurmReadinessClaim = { id: string; token: string }

/** Claims a check. @returns null when another worker has it, or it ended */
export async function startSlurmReadinessCheck(
  ctx: Ctx,
  { id, token }: SlurmReadinessClaim,
): Promise<{ check: SlurmReadinessCheck; cluster: SlurmCluster | null } | null> {
  authorize(ctx, slurmScalePermissions.report)
  const { startedAt, claimedUntil } = slurmReadinessChecks
  const [check] = await ctx.db
    .update(slurmReadinessChecks)
    .set({ claimToken: token, claimedUntil: claimEnd, startedAt: sql`coalesce(${startedAt}, now())` })
    .where(and(unfinished(ctx, id), or(isNull(claimedUntil), lte(claimedUntil, sql`now()`))))
    .returning()
  if (!check) return null
  ctx.notify(slurmReadinessCheckChanged(check))
  const [cluster] = check.clusterId ? await ctx.db.select().from(slurmClusters).where(eq(slurmClusters.id, check.clusterId)) : []
  return { check, cluster: cluster ?? null }
}

/** `error`, null for none, ends the check. Fields that are undefined stay. */
export type SlurmReadinessProgress = { nodes?: SlurmReadinessNode[]; error?: string | null }

/** Renews the claim of a check, and stores the findings so far. @returns false when the claim is lost, and nothing was stored */
export async function recordSlurmReadiness(
  ctx: Ctx,
  { id, token, nodes, error }: SlurmReadinessClaim & SlurmReadinessProgress,
): Promise<boolean> {
  authorize(ctx, slurmScalePermissions.report)
  const stored = await ctx.db
    .update(slurmReadinessChecks)
    .set({
      claimedUntil: claimEnd,
      ...(nodes ? { nodes: sanitizeForPostgres(nodes) } : {}),
      ...(error === undefined ? {} : { error, finishedAt: sql`now()` }),
    })
    .where(and(unfinished(ctx, id), eq(slurmReadinessChecks.claimToken, token)))
    .returning({ id: slurmReadinessChecks.id })
  if (stored.length > 0 && (nodes || error !== undefined)) ctx.notify(slurmReadinessCheckChanged({ id, tenantId: ctx.tenantId }))
  return stored.length > 0
}
