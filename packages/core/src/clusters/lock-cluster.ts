import { and, eq } from 'drizzle-orm'
import type { Ctx, Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { type SlurmCluster, slurmClusters } from './tables.ts'

/**
 * Serializes starts of operations and choices of batches on a cluster until the transaction ends: the next one sees what this one began.
 * Without the lock, two runs together go below the floor.
 * @returns null when the cluster was removed
 */
export async function lockSlurmCluster(tx: Tx, ctx: Ctx, id: string): Promise<SlurmCluster | null> {
  const [cluster] = await tx
    .select()
    .from(slurmClusters)
    .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, id)))
    .for('no key update')
  return cluster ?? null
}
