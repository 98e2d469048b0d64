import { and, eq, isNull, lte, or, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { slurmClusterPermissions } from './permissions.ts'
import { type SlurmCluster, slurmClusters } from './tables.ts'

/** Longer than all commands of a refresh may take together. A worker that died loses its claim after it. */
const CLAIM_SECONDS = 180

/** Claims the refresh of a cluster that is due. @returns null when it is not due, or another worker has it */
export async function claimSlurmRefresh(ctx: Ctx, { id }: { id: string }): Promise<SlurmCluster | null> {
  authorize(ctx, slurmClusterPermissions.report)
  const [cluster] = await ctx.db
    .update(slurmClusters)
    .set({ claimedUntil: sql`now() + make_interval(secs => ${CLAIM_SECONDS})` })
    .where(
      and(
        visibleTo(ctx, slurmClusters),
        eq(slurmClusters.id, id),
        lte(slurmClusters.nextRefreshAt, sql`now()`),
        or(isNull(slurmClusters.claimedUntil), lte(slurmClusters.claimedUntil, sql`now()`)),
      ),
    )
    .returning()
  return cluster ?? null
}
