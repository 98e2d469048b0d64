import { and, eq, isNull, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { sanitizeForPostgres } from '../../kernel/db/sanitize.ts'
import { slurmLookupChanged } from '../change-events.ts'
import { slurmClusterPermissions } from '../permissions.ts'
import { type SlurmCluster, type SlurmLookup, type SlurmLookupResult, slurmClusters, slurmLookups } from '../tables.ts'

/** Characters of a stored result. */
const MAX_RESULT = 4 * 1024 * 1024
const TOO_LARGE = 'The result is larger than 4 million characters. Look up fewer jobs at once, or one task of an array.'

const unfinished = (ctx: Ctx, id: string) =>
  and(visibleTo(ctx, slurmLookups), eq(slurmLookups.id, id), isNull(slurmLookups.finishedAt))

/** @returns the cluster of a lookup that waits for a worker; null when a worker has it, or it ended */
export async function findWaitingSlurmLookup(ctx: Ctx, { id }: { id: string }): Promise<{ clusterId: string } | null> {
  authorize(ctx, slurmClusterPermissions.report)
  const [lookup] = await ctx.db
    .select({ clusterId: slurmLookups.clusterId })
    .from(slurmLookups)
    .where(and(unfinished(ctx, id), isNull(slurmLookups.startedAt)))
  return lookup ?? null
}

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
  const [cluster] = await ctx.db
    .select()
    .from(slurmClusters)
    .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, lookup.clusterId)))
  return cluster ? { lookup, cluster } : null
}

/** Ends a lookup, with a result or the reason why there is none. A result that is too large to store is such a reason. */
export async function finishSlurmLookup(
  ctx: Ctx,
  { id, result, error }: { id: string; result: SlurmLookupResult | null; error: string | null },
): Promise<void> {
  authorize(ctx, slurmClusterPermissions.report)
  const isTooLarge = result !== null && JSON.stringify(result).length > MAX_RESULT
  const outcome = isTooLarge ? { result: null, error: TOO_LARGE } : { result, error }
  await ctx.db
    .update(slurmLookups)
    .set({ ...sanitizeForPostgres(outcome), finishedAt: sql`now()` })
    .where(unfinished(ctx, id))
  ctx.notify(slurmLookupChanged({ id, tenantId: ctx.tenantId }))
}
