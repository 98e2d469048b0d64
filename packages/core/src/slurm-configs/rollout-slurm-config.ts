import { and, desc, eq, isNotNull, isNull } from 'drizzle-orm'
import { z } from 'zod'
import { authorizeCluster } from '../clusters/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorizeSomewhere, type Ctx, type Tx } from '../kernel/context.ts'
import { Conflict, parseInput } from '../kernel/errors.ts'
import { Id, singleLineText } from '../kernel/input.ts'
import { insertOperation, lockCluster, type SlurmOperation } from '../slurm-operations/index.ts'
import { slurmOperations } from '../slurm-operations/tables.ts'
import { configHosts } from './find-cluster.ts'
import { slurmConfigPermissions } from './permissions.ts'
import { previewOf, type SlurmConfigPreview } from './preview-slurm-config.ts'
import type { SlurmConfigVersion } from './tables.ts'
import { createConfigVersion, findConfigVersion, newestConfigVersion } from './versions.ts'

export const RolloutSlurmConfigInput = z.object({
  clusterId: Id,
  number: z.int().min(1),
  /** From the preview of this version. */
  fingerprint: z.string().max(100),
  reason: singleLineText(200),
  idempotencyKey: IdempotencyKey,
})

/**
 * Starts an operation that writes a version of the configuration on the hosts of a cluster and makes Slurm use it.
 * @throws Forbidden; NotFound the cluster or the version; Conflict the plan is another one than in the preview, the configuration is reused or has
 * errors, other nodes than the managed cluster, or jobs on nodes that it removes, or an operation runs on the cluster
 */
export async function rolloutSlurmConfig(ctx: Ctx, input: z.input<typeof RolloutSlurmConfigInput>): Promise<SlurmOperation> {
  authorizeSomewhere(ctx, slurmConfigPermissions.write)
  const { idempotencyKey, ...fields } = parseInput(RolloutSlurmConfigInput, input)
  const key = { verb: 'rolloutSlurmConfig', key: idempotencyKey, input: fields, result: oneRow(slurmOperations) }
  return idempotent(ctx, key, async (tx, ctx) => {
    const cluster = await lockCluster(tx, ctx, fields.clusterId)
    authorizeCluster(ctx, slurmConfigPermissions.write, cluster)
    const version = await findConfigVersion(tx, cluster, fields.number)
    const preview = await previewOf(tx, ctx, cluster, version)
    if (preview.fingerprint !== fields.fingerprint)
      throw new Conflict('The rollout would do something else than in the preview. Preview it again.')
    return start(tx, ctx, preview, version, fields.reason, false)
  })
}

export const RollbackSlurmConfigInput = z.object({
  clusterId: Id,
  /** The version to restore. Default: the one before the version that was rolled out last. */
  number: z.int().min(1).nullish(),
  reason: singleLineText(200),
  idempotencyKey: IdempotencyKey,
})

/**
 * Stores the files of an earlier version as a new one, and starts its rollout.
 * @throws Forbidden; NotFound; Conflict as for `rolloutSlurmConfig`, or there is no earlier version
 */
export async function rollbackSlurmConfig(ctx: Ctx, input: z.input<typeof RollbackSlurmConfigInput>): Promise<SlurmOperation> {
  authorizeSomewhere(ctx, slurmConfigPermissions.write)
  const { idempotencyKey, ...fields } = parseInput(RollbackSlurmConfigInput, input)
  const key = { verb: 'rollbackSlurmConfig', key: idempotencyKey, input: fields, result: oneRow(slurmOperations) }
  return idempotent(ctx, key, async (tx, ctx) => {
    const cluster = await lockCluster(tx, ctx, fields.clusterId)
    authorizeCluster(ctx, slurmConfigPermissions.write, cluster)
    const current = cluster.configNumber === null ? null : await findConfigVersion(tx, cluster, cluster.configNumber)
    const number = fields.number ?? (current && ((await rolledOutBefore(tx, cluster.id, current.number)) ?? current.basedOn))
    if (!number) throw new Conflict(`The configuration of the cluster ${cluster.name} has no earlier version.`)
    const target = await findConfigVersion(tx, cluster, number)
    // Before the version is stored: a refused rollback leaves none.
    const preview = await previewOf(tx, ctx, cluster, target)
    const newest = await newestConfigVersion(tx, cluster.id)
    const { files, settings } = target
    const restored = {
      clusterId: cluster.id,
      basedOn: cluster.configNumber,
      files,
      settings,
      origin: 'RESTORED' as const,
      reason: fields.reason,
    }
    const isNewest = newest!.number === number
    return start(tx, ctx, preview, isNewest ? target : await createConfigVersion(tx, ctx, restored), fields.reason, true)
  })
}

/** The version that the hosts had before this one was rolled out; null when no rollout of it succeeded. */
async function rolledOutBefore(tx: Tx, clusterId: string, number: number): Promise<number | null> {
  const [last] = await tx
    .select({ input: slurmOperations.input })
    .from(slurmOperations)
    .where(
      and(
        eq(slurmOperations.clusterId, clusterId),
        eq(slurmOperations.kind, 'CONFIGURE'),
        eq(slurmOperations.configNumber, number),
        isNotNull(slurmOperations.finishedAt),
        isNull(slurmOperations.error),
      ),
    )
    .orderBy(desc(slurmOperations.id))
    .limit(1)
  return (last?.input.from as number | undefined) ?? null
}

async function start(
  tx: Tx,
  ctx: Ctx,
  preview: SlurmConfigPreview,
  to: SlurmConfigVersion,
  reason: string,
  isRollback: boolean,
): Promise<SlurmOperation> {
  const { cluster, from, plan, blockedReason } = preview
  if (blockedReason) throw new Conflict(blockedReason)
  if (plan.controllers === 'NONE') throw new Conflict(`The hosts of the cluster ${cluster.name} have these files already.`)
  return insertOperation(tx, ctx, {
    clusterId: cluster.id,
    kind: 'CONFIGURE',
    input: { action: 'ROLLOUT', from: from!.number, to: to.number, isRollback },
    plan: { ...plan },
    configNumber: to.number,
    reason,
    nodes: await configHosts(tx, ctx, cluster, slurmConfigPermissions.write, { from: from!.files, to: to.files }),
  })
}
