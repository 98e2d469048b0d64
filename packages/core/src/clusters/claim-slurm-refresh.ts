import { and, eq, isNull, lte, or, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { newId } from '../kernel/db/columns.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { slurmClusterPermissions } from './permissions.ts'
import { type SlurmCluster, slurmClusters } from './tables.ts'

/** A worker that died loses its claim after it. The others renew theirs with `renewSlurmRefresh`. */
const CLAIM_SECONDS = 60
const claimEnd = sql`now() + make_interval(secs => ${CLAIM_SECONDS})`

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

/** Renews the claim of a refresh while its worker lives. A refresh that somebody asked for meanwhile stays due. @returns false when it is lost */
export async function renewSlurmRefresh(ctx: Ctx, { id, claimToken }: { id: string; claimToken: string }): Promise<boolean> {
  authorize(ctx, slurmClusterPermissions.report)
  const { nextRefreshAt, claimedUntil } = slurmClusters
  const renewed = await ctx.db
    .update(slurmClusters)
    .set({
      claimedUntil: claimEnd,
      nextRefreshAt: sql`case when ${nextRefreshAt} = ${claimedUntil} then ${claimEnd} else ${nextRefreshAt} end`,
    })
    .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, id), eq(slurmClusters.claimToken, claimToken)))
    .returning({ id: slurmClusters.id })
  return renewed.length > 0
}

/** Gives up a claimed refresh without an outcome: the worker stops, which says nothing about the cluster. It is due at once. */
export async function releaseSlurmRefresh(ctx: Ctx, { id, claimToken }: { id: string; claimToken: string }): Promise<void> {
  authorize(ctx, slurmClusterPermissions.report)
  await ctx.db
    .update(slurmClusters)
    .set({ claimToken: null, claimedUntil: null, nextRefreshAt: sql`now()` })
    .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, id), eq(slurmClusters.claimToken, claimToken)))
}
