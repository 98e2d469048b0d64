import { and, eq } from 'drizzle-orm'
import { slurmClusters } from '../clusters/tables.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'

/** Name of the managed Slurm cluster whose nodes and munge key a group has; null when it has none. */
export async function managedClusterOf(db: Tx | Ctx['db'], ctx: Ctx, groupId: string): Promise<string | null> {
  const [cluster] = await db
    .select({ name: slurmClusters.name })
    .from(slurmClusters)
    .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.nodeGroupId, groupId), eq(slurmClusters.kind, 'MANAGED')))
    .limit(1)
  return cluster?.name ?? null
}
