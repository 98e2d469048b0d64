import { and, eq, isNull, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { sanitizeForPostgres } from '../../kernel/db/sanitize.ts'
import { slurmLookupChanged } from '../change-events.ts'
import { slurmClusterPermissions } from '../permissions.ts'
import { type SlurmCluster, type SlurmLookup, type SlurmLookupResult, slurmClusters, slurmLookups } from '../tables.ts'

const unfinished = (ctx: Ctx, id: string) =>
  and(visibleTo(ctx, slurmLookups), eq(slurmLookups.id, id), isNull(slurmLookups.finishedAt))

/** Claims a lookup. @returns null when another worker has it, or it ended */
export async function startSlurmLookup(
  ctx: Ctx,
  { id }: { id: string },
): Promise<{ lookup: SlurmLookup; cluster: SlurmCluster } | null> {
  authorize(ctx, slurmClusterPermissions.report)
  const [lookup] = await ctx.db
    .update(slurmLookups)
    .set({ startedAt: sql`now()` })
    .where(and(unfinished(ctx, id), isNull(slurmLookups.startedAt)))
    .returning()
  if (!lookup) return null
  ctx.notify(slurmLookupChanged(lookup))
  const [cluster] = await ctx.db.select().from(slurmClusters).where(eq(slurmClusters.id, lookup.clusterId))
  return cluster ? { lookup, cluster } : null
}

/** Ends a lookup, with a result or the reason why there is none. */
export async function finishSlurmLookup(
  ctx: Ctx,
  { id, result, error }: { id: string; result: SlurmLookupResult | null; error: string | null },
): Promise<void> {
  authorize(ctx, slurmClusterPermissions.report)
  await ctx.db
    .update(slurmLookups)
    .set({ result: sanitizeForPostgres(result), error: sanitizeForPostgres(error), finishedAt: sql`now()` })
    .where(unfinished(ctx, id))
  ctx.notify(slurmLookupChanged({ id, tenantId: ctx.tenantId }))
}
