import { and, eq, isNull, lte, or, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { newId } from '../kernel/db/columns.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { slurmClusterPermissions } from './permissions.ts'
import { type SlurmCluster, slurmClusters } from './tables.ts'

/** A worker that died loses its claim after it. The others renew theirs with `renewSlurmRefresh`. */
const CLAIM_SECONDS = 60
export const claimEnd = sql`now() + make_interval(secs => ${CLAIM_SECONDS})`

/** A cluster with the token of the refresh that has claimed it. */
export type ClaimedCluster = SlurmCluster & { claimToken: string }

/**
 * Claims the refresh of a cluster that is due. The next one is due when the claim ends: an earlier time tells that somebody asked for
 * one meanwhile.
 * @returns null when it is not due, or another worker has it
 */
export async function claimSlurmRefresh(ctx: Ctx, { id }: { id: string }): Promise<ClaimedCluster | null> {
  authorize(ctx, slurmClusterPermissions.report)
  const claimToken = newId()
  const [cluster] = await ctx.db
    .update(slurmClusters)
    .set({ claimToken, claimedUntil: claimEnd, nextRefreshAt: claimEnd })
    .where(
      and(
        visibleTo(ctx, slurmClusters),
        eq(slurmClusters.id, id),
        lte(slurmClusters.nextRefreshAt, sql`now()`),
        or(isNull(slurmClusters.claimedUntil), lte(slurmClusters.claimedUntil, sql`now()`)),
      ),
    )
    .returning()
  return cluster ? { ...cluster, claimToken } : null
}
