import { and, eq, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorizeSomewhere, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { NotFound, parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { slurmClusterAudit } from './audit-actions.ts'
import { authorizeCluster } from './authorize-cluster.ts'
import { slurmClusterPermissions } from './permissions.ts'
import { slurmRefreshQueue } from './queues.ts'
import { type SlurmCluster, slurmClusters } from './tables.ts'

/**
 * Reads a cluster at once, with its configuration; `refreshedAt` or `failingSince` changes when it ended.
 * @throws Forbidden; NotFound
 */
export async function refreshSlurmCluster(ctx: Ctx, input: z.input<typeof IdInput>): Promise<SlurmCluster> {
  authorizeSomewhere(ctx, slurmClusterPermissions.refresh)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const [cluster] = await tx
      .update(slurmClusters)
      .set({ nextRefreshAt: sql`now()`, settingsReadAt: null })
      .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, id)))
      .returning()
    if (!cluster) throw new NotFound(`There is no cluster ${id}.`)
    authorizeCluster(ctx, slurmClusterPermissions.refresh, cluster)
    await ctx.queue.send(tx, slurmRefreshQueue, [cluster])
    await audit(tx, ctx, slurmClusterAudit.refresh, cluster)
    return cluster
  })
}

/** Makes the next refresh of a cluster due and enqueues it, in the transaction of the caller. */
export async function requestRefresh(tx: Tx, ctx: Ctx, clusterId: string): Promise<SlurmCluster | null> {
  const [cluster] = await tx
    .update(slurmClusters)
    .set({ nextRefreshAt: sql`now()` })
    .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, clusterId)))
    .returning()
  if (!cluster) return null
  await ctx.queue.send(tx, slurmRefreshQueue, [cluster])
  return cluster
}
