import { and, eq, isNull, sql } from 'drizzle-orm'
import { type SlurmCluster, slurmClusters } from '../clusters/tables.ts'
import { authorize, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import { slurmReadinessCheckChanged } from './change-events.ts'
import { slurmScalePermissions } from './permissions.ts'
import { type SlurmReadinessCheck, type SlurmReadinessNode, slurmReadinessChecks } from './tables.ts'

const unfinished = (ctx: Ctx, id: string) =>
  and(visibleTo(ctx, slurmReadinessChecks), eq(slurmReadinessChecks.id, id), isNull(slurmReadinessChecks.finishedAt))

/** Claims a check. @returns null when another worker has it, or it ended */
export async function startSlurmReadinessCheck(
  ctx: Ctx,
  { id }: { id: string },
): Promise<{ check: SlurmReadinessCheck; cluster: SlurmCluster | null } | null> {
  authorize(ctx, slurmScalePermissions.report)
  const [check] = await ctx.db
    .update(slurmReadinessChecks)
    .set({ startedAt: sql`now()` })
    .where(and(unfinished(ctx, id), isNull(slurmReadinessChecks.startedAt)))
    .returning()
  if (!check) return null
  ctx.notify(slurmReadinessCheckChanged(check))
  const [cluster] = check.clusterId ? await ctx.db.select().from(slurmClusters).where(eq(slurmClusters.id, check.clusterId)) : []
  return { check, cluster: cluster ?? null }
}

/** Stores the findings so far; `error`, null for none, ends the check. No effect when it has finished. */
export async function recordSlurmReadiness(
  ctx: Ctx,
  { id, nodes, error }: { id: string; nodes: SlurmReadinessNode[]; error?: string | null },
): Promise<void> {
  authorize(ctx, slurmScalePermissions.report)
  await ctx.db
    .update(slurmReadinessChecks)
    .set({ nodes: sanitizeForPostgres(nodes), ...(error === undefined ? {} : { error, finishedAt: sql`now()` }) })
    .where(unfinished(ctx, id))
  ctx.notify(slurmReadinessCheckChanged({ id, tenantId: ctx.tenantId }))
}
