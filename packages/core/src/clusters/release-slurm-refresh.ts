import { and, eq, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { slurmClusterPermissions } from './permissions.ts'
import { slurmClusters } from './tables.ts'

/** Gives up a claimed refresh without an outcome: the worker stops, which says nothing about the cluster. It is due at once. */
export async function releaseSlurmRefresh(ctx: Ctx, { id, claimToken }: { id: string; claimToken: string }): Promise<void> {
  authorize(ctx, slurmClusterPermissions.report)
  await ctx.db
    .update(slurmClusters)
    .set({ claimToken: null, claimedUntil: null, nextRefreshAt: sql`now()` })
    .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, id), eq(slurmClusters.claimToken, claimToken)))
}
