import { and, eq } from 'drizzle-orm'
import { slurmClusters } from '../clusters/tables.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { Conflict } from '../kernel/errors.ts'
import { setMembersBlockedReason } from './policy.ts'
import type { NodeGroup } from './tables.ts'

type Db = Tx | Ctx['db']

/** Names of the managed Slurm clusters by the ID of the group that has their nodes and munge key. */
async function managedClustersOf(db: Db, ctx: Ctx, groupIds: readonly string[]): Promise<Map<string, string>> {
  const clusters = await db
    .select({ name: slurmClusters.name, groupId: slurmClusters.nodeGroupId })
    .from(slurmClusters)
    .where(
      and(visibleTo(ctx, slurmClusters), isOneOf(slurmClusters.nodeGroupId, [...groupIds]), eq(slurmClusters.kind, 'MANAGED')),
    )
  return new Map(clusters.map(({ name, groupId }) => [groupId!, name]))
}

/** Name of the managed Slurm cluster whose nodes and munge key a group has; null when it has none. */
export const managedClusterOf = async (db: Db, ctx: Ctx, groupId: string): Promise<string | null> =>
  (await managedClustersOf(db, ctx, [groupId])).get(groupId) ?? null

/** Why nodes cannot become members of groups of managed clusters, by the ID of the group. */
export async function managedGroupReasons(
  db: Db,
  ctx: Ctx,
  groups: readonly Pick<NodeGroup, 'id' | 'name' | 'memberQuery'>[],
): Promise<Map<string, string>> {
  const ids = groups.map(({ id }) => id)
  const clusters = ids.length > 0 ? await managedClustersOf(db, ctx, ids) : new Map<string, string>()
  return new Map(
    groups.flatMap((group) => {
      const cluster = clusters.get(group.id)
      const reason = cluster === undefined ? null : setMembersBlockedReason(ctx.actor, group, cluster)
      return reason === null ? [] : [[group.id, reason]]
    }),
  )
}

/** @throws Conflict one of the groups is that of a managed cluster */
export async function assertNoManagedGroup(tx: Tx, ctx: Ctx, groups: readonly NodeGroup[]): Promise<void> {
  const [reason] = (await managedGroupReasons(tx, ctx, groups)).values()
  if (reason !== undefined) throw new Conflict(reason)
}
