import { type ConfigFiles, type ConfigPlan, planConfig } from '@muster/slurm/config'
import { and, eq, sql } from 'drizzle-orm'
import { audit } from '../audit/index.ts'
import { slurmClusterChanged } from '../clusters/change-events.ts'
import { type SlurmCluster, slurmClusters, slurmNodes } from '../clusters/tables.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import { Conflict, NotFound } from '../kernel/errors.ts'
import { listedNames } from '../kernel/names.ts'
import { computeNodes } from '../nodes/tables.ts'
import { type SlurmRolloutProgress, slurmOperationNodes, slurmOperations } from '../slurm-operations/tables.ts'
import { slurmConfigAudit } from './audit-actions.ts'
import { type ConfigHost, type ControllerHost, configHosts, controllerHosts, controllersIn, findCluster } from './find-cluster.ts'
import { slurmConfigPermissions } from './permissions.ts'
import type { SlurmConfigVersion } from './tables.ts'
import {
  createConfigVersion,
  findConfigVersion,
  newestConfigVersion,
  releaseOf,
  rolledOutVersion,
  sameFiles,
} from './versions.ts'

export type SlurmRollout = {
  /** The files that the hosts should have before, and after. */
  from: ConfigFiles
  to: ConfigFiles
  plan: ConfigPlan
  /** Nodes that get the files, the primary controller first. */
  hosts: ConfigHost[]
  /** Those of the hosts that run slurmctld, before or after. */
  controllers: ControllerHost[]
  /** Those of the controllers that only the files before, or only the files after, name: slurmctld stops there with the other files. */
  onlyBefore: ConfigHost[]
  onlyAfter: ConfigHost[]
  /** Nodes whose slurmd restarts, by NodeName, and NodeNames of those that the inventory does not have. */
  slurmdNodes: Map<string, ConfigHost>
  unknownNodes: string[]
  /** Of an earlier execution; null when it has written nothing. */
  progress: SlurmRolloutProgress | null
}

/**
 * The hosts of an operation on a configuration must be those that its caller saw and was allowed to use. A refresh may find further
 * controllers meanwhile.
 * @throws Conflict there are further hosts
 */
async function assertRequested(
  ctx: Ctx,
  { name }: SlurmCluster,
  operationId: string,
  hosts: ConfigHost[],
): Promise<ConfigHost[]> {
  const requested = await ctx.db
    .select({ nodeId: slurmOperationNodes.nodeId })
    .from(slurmOperationNodes)
    .innerJoin(slurmOperations, eq(slurmOperations.id, slurmOperationNodes.operationId))
    .where(and(visibleTo(ctx, slurmOperations), eq(slurmOperations.id, operationId), eq(slurmOperations.kind, 'CONFIGURE')))
  // The nodes of other operations are those that they add or remove.
  if (requested.length === 0) return hosts
  const further = hosts.filter(({ nodeId }) => !requested.some((node) => node.nodeId === nodeId))
  if (further.length === 0) return hosts
  throw new Conflict(
    `Since the request, ${listedNames(further.map((host) => host.name))} became ${further.length === 1 ? 'a host' : 'hosts'} of the configuration of the cluster ${name}. Nothing was written. Check the controllers of the cluster, then start the operation again.`,
  )
}

const isNamed = (files: ConfigFiles, { controller }: ControllerHost): boolean =>
  controllersIn(files).some(({ name }) => name === controller)

/** Reads what a rollout of an operation needs. @throws NotFound; Conflict there is no controller node, or hosts were added since the request */
export async function readSlurmRollout(
  ctx: Ctx,
  { operationId, clusterId, from, to }: { operationId: string; clusterId: string; from: number; to: number },
): Promise<SlurmRollout> {
  authorize(ctx, slurmConfigPermissions.report)
  const cluster = await findCluster(ctx.db, ctx, clusterId)
  const [before, after] = [await findConfigVersion(ctx.db, cluster, from), await findConfigVersion(ctx.db, cluster, to)]
  const plan = planConfig(before.files, after.files, releaseOf(cluster))
  const matched = await ctx.db
    .select({ nodeName: slurmNodes.name, nodeId: computeNodes.id, name: computeNodes.name })
    .from(slurmNodes)
    .innerJoin(computeNodes, eq(computeNodes.id, slurmNodes.nodeId))
    .where(eq(slurmNodes.clusterId, clusterId))
  const byName = new Map(matched.map(({ nodeName, ...node }) => [nodeName, node]))
  const [operation] = await ctx.db
    .select({ rollout: slurmOperations.rollout })
    .from(slurmOperations)
    .where(and(visibleTo(ctx, slurmOperations), eq(slurmOperations.id, operationId)))
  const stored = operation?.rollout ?? null
  const progress = stored?.from === from && stored.to === to ? stored : null
  const { report } = slurmConfigPermissions
  const change = { from: before.files, to: after.files }
  const controllers = progress?.controllers ?? (await controllerHosts(ctx.db, ctx, cluster, report, change))
  return {
    from: before.files,
    to: after.files,
    plan,
    hosts:
      progress?.hosts ??
      (await assertRequested(ctx, cluster, operationId, await configHosts(ctx.db, ctx, cluster, report, change))),
    controllers,
    onlyBefore: controllers.filter((host) => isNamed(before.files, host) && !isNamed(after.files, host)),
    onlyAfter: controllers.filter((host) => isNamed(after.files, host) && !isNamed(before.files, host)),
    slurmdNodes: new Map(plan.nodes.flatMap((name) => (byName.has(name) ? [[name, byName.get(name)!]] : []))),
    unknownNodes: plan.nodes.filter((name) => !byName.has(name)),
    progress,
  }
}

/**
 * Reads the hosts whose files an operation compares, and the version that they should have; null before the import.
 * @throws Conflict hosts were added since the request
 */
export async function readConfigHosts(
  ctx: Ctx,
  { operationId, clusterId }: { operationId: string; clusterId: string },
): Promise<{ hosts: ConfigHost[]; files: ConfigFiles | null }> {
  authorize(ctx, slurmConfigPermissions.report)
  const cluster = await findCluster(ctx.db, ctx, clusterId)
  return {
    hosts: await assertRequested(
      ctx,
      cluster,
      operationId,
      await configHosts(ctx.db, ctx, cluster, slurmConfigPermissions.report),
    ),
    files: (await rolledOutVersion(ctx.db, cluster))?.files ?? null,
  }
}

/** Reads the files of a version. @throws NotFound */
export async function readSlurmConfig(
  ctx: Ctx,
  { clusterId, number }: { clusterId: string; number: number },
): Promise<ConfigFiles> {
  authorize(ctx, slurmConfigPermissions.report)
  return (await findConfigVersion(ctx.db, await findCluster(ctx.db, ctx, clusterId), number)).files
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
