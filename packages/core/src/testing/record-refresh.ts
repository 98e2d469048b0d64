import { eq, sql } from 'drizzle-orm'
import {
  claimSlurmRefresh,
  type RefreshOutcome,
  readStoredReports,
  recordSlurmRefresh,
  type SlurmCluster,
  slurmClusters,
} from '../clusters/index.ts'
import type { Ctx } from '../registry.ts'

/** Claims a refresh, due or not, and stores it as a worker does. */
export async function recordRefresh(ctx: Ctx, outcome: Omit<RefreshOutcome, 'claimToken' | 'stored'>): Promise<SlurmCluster> {
  const { id } = outcome
  await ctx.db.update(slurmClusters).set({ nextRefreshAt: sql`now()`, claimedUntil: null }).where(eq(slurmClusters.id, id))
  const claimed = await claimSlurmRefresh(ctx, { id })
  const cluster = await recordSlurmRefresh(ctx, {
    ...outcome,
    stored: await readStoredReports(ctx, { id }),
    claimToken: claimed!.claimToken,
  })
  return cluster!
}
