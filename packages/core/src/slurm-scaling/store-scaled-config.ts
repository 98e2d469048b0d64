import { isDeepStrictEqual } from 'node:util'
import type { ConfigFiles, ConfigSettings } from '@muster/slurm/config'
import { and, eq } from 'drizzle-orm'
import { updateBootRule } from '../boot-service/index.ts'
import { bootRules } from '../boot-service/tables.ts'
import { slurmClusterChanged } from '../clusters/change-events.ts'
import { slurmClusters } from '../clusters/tables.ts'
import { deleteNodeGroup, nodeGroups, updateNodeGroup } from '../groups/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { type ConfigOrigin, createConfigVersion, type SlurmConfigVersion } from '../slurm-configs/index.ts'
import { lockCluster, type SlurmOperation, slurmOperations } from '../slurm-operations/index.ts'
import { newestConfigVersion, rolledOutVersion } from './config-version.ts'
import { slurmScalePermissions } from './permissions.ts'

type NewConfig = { operation: SlurmOperation; origin: ConfigOrigin; files: ConfigFiles; settings: ConfigSettings | null }

/** Stores the configuration that an operation rolls out, unless the newest version has these files: a repeated call stores nothing. */
export async function storeScaledConfig(
  ctx: Ctx,
  { operation, origin, files, settings }: NewConfig,
): Promise<SlurmConfigVersion> {
  authorize(ctx, slurmScalePermissions.report)
  const { clusterId, createdById, createdByName, reason } = operation
  return inTransaction(ctx, async (tx, ctx) => {
    const { configNumber } = await lockCluster(tx, ctx, clusterId)
    const newest = await newestConfigVersion(tx, clusterId)
    const version =
      newest && isDeepStrictEqual(newest.files, files)
        ? newest
        : await createConfigVersion(tx, ctx, {
            clusterId,
            basedOn: configNumber,
            files,
            settings,
            origin,
            reason,
            createdBy: { createdById, createdByName },
          })
    await tx.update(slurmOperations).set({ configNumber: version.number }).where(eq(slurmOperations.id, operation.id))
    return version
  })
}

/** The version that the hosts of a cluster have; null when they have none. */
export async function readRolledOutConfig(ctx: Ctx, { clusterId }: { clusterId: string }): Promise<SlurmConfigVersion | null> {
  authorize(ctx, slurmScalePermissions.report)
  const [cluster] = await ctx.db
    .select()
    .from(slurmClusters)
    .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, clusterId)))
  return cluster ? rolledOutVersion(ctx.db, cluster) : null
}

/** The number of the version that an operation rolls out; null before it is stored. */
export async function operationConfig(ctx: Ctx, { id }: { id: string }): Promise<number | null> {
  authorize(ctx, slurmScalePermissions.report)
  const [row] = await ctx.db
    .select({ number: slurmOperations.configNumber })
    .from(slurmOperations)
    .where(and(visibleTo(ctx, slurmOperations), eq(slurmOperations.id, id)))
  return row?.number ?? null
}

/**
 * Records that no host of a cluster has a configuration, and deletes its group with the munge key: its creation was undone.
 * Child groups of it stay, without a parent, and boot rules with it are disabled.
 */
export async function forgetClusterConfig(ctx: Ctx, { clusterId }: { clusterId: string }): Promise<void> {
  authorize(ctx, slurmScalePermissions.report)
  await inTransaction(ctx, async (tx, ctx) => {
    const { nodeGroupId } = await lockCluster(tx, ctx, clusterId)
    const [cluster] = await tx
      .update(slurmClusters)
      .set({ configNumber: null, nodeGroupId: null })
      .where(eq(slurmClusters.id, clusterId))
      .returning()
    if (nodeGroupId !== null) {
      const children = await tx
        .select({ id: nodeGroups.id })
        .from(nodeGroups)
        .where(and(visibleTo(ctx, nodeGroups), eq(nodeGroups.parentId, nodeGroupId)))
      for (const { id } of children) await updateNodeGroup(ctx, { id, parentId: null })
      const rules = await tx
        .select({ id: bootRules.id })
        .from(bootRules)
        .where(and(visibleTo(ctx, bootRules), eq(bootRules.groupId, nodeGroupId)))
      for (const { id } of rules) await updateBootRule(ctx, { id, groupId: null, isEnabled: false })
      await deleteNodeGroup(ctx, { id: nodeGroupId })
    }
    ctx.notify(slurmClusterChanged(cluster!))
  })
}
