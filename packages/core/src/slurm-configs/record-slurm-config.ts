import type { ConfigFiles } from '@muster/slurm/config'
import { and, eq, sql } from 'drizzle-orm'
import { audit } from '../audit/index.ts'
import { slurmClusterChanged } from '../clusters/change-events.ts'
import { type SlurmCluster, slurmClusters } from '../clusters/tables.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import { NotFound } from '../kernel/errors.ts'
import { slurmOperations } from '../slurm-operations/tables.ts'
import { slurmConfigAudit } from './audit-actions.ts'
import { findCluster } from './find-cluster.ts'
import { slurmConfigPermissions } from './permissions.ts'
import type { SlurmConfigVersion } from './tables.ts'
import { createConfigVersion, findConfigVersion, newestConfigVersion, sameFiles } from './versions.ts'

/** Reads a version for a rollout. @throws NotFound */
export async function readSlurmConfig(
  ctx: Ctx,
  { clusterId, number }: { clusterId: string; number: number },
): Promise<SlurmConfigVersion> {
  authorize(ctx, slurmConfigPermissions.report)
  return findConfigVersion(ctx.db, await findCluster(ctx.db, ctx, clusterId), number)
}

/**
 * Stores the files that the hosts of a cluster have as its newest version, unless it is the same.
 * @throws NotFound; Conflict somebody saved another version since the operation began
 */
export async function recordSlurmConfigImport(
  ctx: Ctx,
  { operationId, files, basedOn }: { operationId: string; files: ConfigFiles; basedOn: number | null },
): Promise<SlurmConfigVersion> {
  authorize(ctx, slurmConfigPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const [operation] = await tx
      .select()
      .from(slurmOperations)
      .where(and(visibleTo(ctx, slurmOperations), eq(slurmOperations.id, operationId)))
    if (!operation) throw new NotFound(`There is no operation ${operationId}.`)
    const { clusterId, reason } = operation
    const newest = await newestConfigVersion(tx, clusterId)
    const stored = sanitizeForPostgres(files)
    const version =
      newest && sameFiles(newest.files, stored)
        ? newest
        : await createConfigVersion(tx, ctx, {
            clusterId,
            basedOn,
            files: stored,
            origin: 'IMPORTED',
            reason,
            createdBy: operation,
          })
    await setNumber(tx, ctx, clusterId, version.number)
    return version
  })
}

async function setNumber(tx: Tx, ctx: Ctx, clusterId: string, configNumber: number): Promise<SlurmCluster> {
  const [cluster] = await tx
    .update(slurmClusters)
    .set({ configNumber, configDrift: {}, configCheckedAt: sql`now()` })
    .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, clusterId)))
    .returning()
  if (!cluster) throw new NotFound(`There is no cluster ${clusterId}.`)
  ctx.notify(slurmClusterChanged(cluster))
  return cluster
}

/** Records that the hosts of a cluster have a version now. */
export async function recordSlurmConfigRollout(
  ctx: Ctx,
  { clusterId, number }: { clusterId: string; number: number },
): Promise<void> {
  authorize(ctx, slurmConfigPermissions.report)
  await inTransaction(ctx, async (tx, ctx) => {
    const version = await findConfigVersion(tx, await findCluster(tx, ctx, clusterId), number)
    const cluster = await setNumber(tx, ctx, clusterId, number)
    await audit(tx, ctx, slurmConfigAudit.rolled_out, { id: version.id, name: cluster.name }, { number })
  })
}

/** Records how the files of each host differ from the version that was rolled out; null where they are the same. */
export async function recordSlurmConfigDrift(
  ctx: Ctx,
  { clusterId, drift }: { clusterId: string; drift: Record<string, string | null> },
): Promise<void> {
  authorize(ctx, slurmConfigPermissions.report)
  await inTransaction(ctx, async (tx, ctx) => {
    const [cluster] = await tx
      .update(slurmClusters)
      .set({ configDrift: sanitizeForPostgres(drift), configCheckedAt: sql`now()` })
      .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, clusterId)))
      .returning()
    if (cluster) ctx.notify(slurmClusterChanged(cluster))
  })
}
