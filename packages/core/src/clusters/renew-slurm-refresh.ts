import { and, eq, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { claimEnd } from './claim-slurm-refresh.ts'
import { slurmClusterPermissions } from './permissions.ts'
import { slurmClusters } from './tables.ts'

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
