import {
  addNodes,
  type ConfigDiff,
  type ConfigNode,
  type ConfigPlan,
  diffConfig,
  nodeNames,
  parseConfig,
  planConfig,
  readSetting,
} from '@muster/slurm/config'
import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { authorizeCluster, slurmMessages } from '../clusters/index.ts'
import { type SlurmCluster, slurmClusters } from '../clusters/tables.ts'
import { authorizeNodes } from '../groups/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorizeSomewhere, type Ctx, permissionDeniedReason, type Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict, InvalidInput, NotFound, parseInput } from '../kernel/errors.ts'
import { Id, Ids, singleLineText } from '../kernel/input.ts'
import { jobRunPermissions } from '../runs/permissions.ts'
import { selectNodes } from '../selection/index.ts'
import type { SlurmConfigVersion } from '../slurm-configs/index.ts'
import { insertOperation, type SlurmOperation, slurmOperations } from '../slurm-operations/index.ts'
import { excludeWithoutBmc } from '../slurm-power/index.ts'
import { jobTemplates } from '../templates/tables.ts'
import {
  assertUnblocked,
  findCandidates,
  fingerprintOf,
  lockCandidates,
  type ScaleCandidate,
  ShardsPerGpu,
} from './candidates.ts'
import { withShards } from './config-node.ts'
import { rolledOutVersion } from './config-version.ts'
import { slurmScalePermissions } from './permissions.ts'
import { notScalableReason } from './policy.ts'

const Targets = {
  clusterId: Id,
  /** Nodes of the inventory: a hostlist, group or query, as for runs. */
  limit: singleLineText(10_000).nullish(),
  nodeIds: Ids.nullish(),
  /** Partitions that get the nodes; those with Nodes=ALL have them anyway. */
  partitions: z.array(singleLineText(255)).max(100).default([]),
  shardsPerGpu: ShardsPerGpu,
}
export const isOneSelection = ({ limit, nodeIds }: { limit?: unknown; nodeIds?: unknown }) => !limit !== !nodeIds
export const ONE_SELECTION = 'name the nodes: either limit or nodeIds'

export const PreviewSlurmScaleOutInput = z.object(Targets).refine(isOneSelection, ONE_SELECTION)
export const ScaleOutSlurmClusterInput = z
  .object({
    ...Targets,
    reason: singleLineText(200),
    /** Of the preview that the caller confirmed. */
    fingerprint: z.string().max(100),
    idempotencyKey: IdempotencyKey,
  })
  .refine(isOneSelection, ONE_SELECTION)

/** Installs Slurm. */
const INSTALL_TEMPLATE = 'slurm_node'
/** Assumed before the first refresh. */
export const OLDEST = '20.11'

/** What the operation stores and its steps use. */
export type ScaleOutPlan = { nodes: (ConfigNode & { nodeId: string })[]; partitions: string[] }

export type SlurmScaleOutPreview = {
  cluster: SlurmCluster
  candidates: ScaleCandidate[]
  /** Why the cluster cannot get these nodes; null when it can get those that are not blocked. */
  blockedReason: string | null
  diff: ConfigDiff[]
  plan: ConfigPlan | null
  fingerprint: string
}

type Request = z.output<typeof PreviewSlurmScaleOutInput>

/**
 * Returns what a scale-out would change, by the last discovery of the nodes and the last refresh of the cluster. Nothing runs.
 * @throws Forbidden; NotFound; Conflict the cluster is not managed; InvalidInput
 */
export async function previewSlurmScaleOut(
  ctx: Ctx,
  input: z.input<typeof PreviewSlurmScaleOutInput>,
): Promise<SlurmScaleOutPreview> {
  authorizeSomewhere(ctx, slurmScalePermissions.nodes)
  return preview(ctx.db, ctx, parseInput(PreviewSlurmScaleOutInput, input))
}

async function preview(db: Tx | Ctx['db'], ctx: Ctx, request: Request): Promise<SlurmScaleOutPreview> {
  await selectNodes(ctx, request.nodeIds ?? request.limit!, db as Tx)
  const { cluster, version } = await scalableCluster(db, ctx, request.clusterId)
  const names = nodeNames(parseConfig(version.files['slurm.conf']))
  const path = request.nodeIds ? 'nodeIds' : 'limit'
  const found = await findCandidates(db, ctx, request.nodeIds ?? request.limit!, new Set(names), path)
  const switchReason = noSwitchReason(version)
  const candidates = found.map((one) => ({
    ...one,
    config: one.config && withShards(one.config, request.shardsPerGpu),
    blockedReason: one.blockedReason ?? (one.config?.switchName == null ? switchReason : null),
  }))
  await authorizeCandidates(db, ctx, candidates)
  const usable = candidates.filter(({ blockedReason }) => blockedReason === null)
  const total = names.length + usable.length
  const blockedReason =
    usable.length === 0
      ? slurmMessages.noCandidates()
      : cluster.maxNodes !== null && total > cluster.maxNodes
        ? slurmMessages.tooManyNodes({ name: cluster.name, total, limit: cluster.maxNodes })
        : null
  const added = usable.map(({ node, config }) => ({ nodeId: node.id, name: config!.name }))
  const files = await excludeWithoutBmc(db, ctx, cluster.id, withNodes(version, usable, request.partitions), added)
  return {
    cluster,
    candidates,
    blockedReason,
    diff: diffConfig(version.files, files),
    plan: planConfig(version.files, files, cluster.version ?? OLDEST),
    fingerprint: fingerprintOf([cluster.id, version.number, usable.map(({ config }) => config), request.partitions]),
  }
}

/** The template that the operation runs on new nodes. */
async function installTemplate(db: Tx | Ctx['db'], ctx: Ctx): Promise<{ id: string | null; name: string }> {
  const [template] = await db
    .select({ id: jobTemplates.id })
    .from(jobTemplates)
    .where(and(visibleTo(ctx, jobTemplates), eq(jobTemplates.name, INSTALL_TEMPLATE)))
  return { id: template?.id ?? null, name: INSTALL_TEMPLATE }
}

/** A grant for a cluster gives no access to further machines. @throws Forbidden names nodes that the caller may not install */
export async function authorizeCandidates(
  db: Tx | Ctx['db'],
  ctx: Ctx,
  candidates: readonly Pick<ScaleCandidate, 'node'>[],
): Promise<void> {
  if (permissionDeniedReason(ctx.actor, slurmScalePermissions.nodes) === null) return
  const ids = candidates.map(({ node }) => node.id)
  await authorizeNodes(db, ctx, jobRunPermissions.start, ids, { template: await installTemplate(db, ctx), connects: true })
}

/** Why nodes without a switch cannot join; null when they can. Slurm would give them no jobs. */
function noSwitchReason({ files }: SlurmConfigVersion): string | null {
  if (files['topology.conf'] === undefined) return null
  return readSetting(parseConfig(files['slurm.conf']), 'TopologyPlugin') === 'topology/tree' ? slurmMessages.noSwitch() : null
}

function withNodes({ files }: SlurmConfigVersion, usable: ScaleCandidate[], partitions: string[]) {
  try {
    return addNodes(
      files,
      usable.flatMap(({ config }) => config ?? []),
      partitions,
    )
  } catch (error) {
    throw new InvalidInput([{ path: 'partitions', message: (error as Error).message }])
  }
}

/** @throws NotFound; Conflict */
export async function scalableCluster(
  db: Tx | Ctx['db'],
  ctx: Ctx,
  id: string,
): Promise<{ cluster: SlurmCluster; version: SlurmConfigVersion }> {
  const [cluster] = await db
    .select()
    .from(slurmClusters)
    .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, id)))
  if (!cluster) throw new NotFound(`There is no cluster ${id}.`)
  authorizeCluster(ctx, slurmScalePermissions.nodes, cluster)
  const reason = notScalableReason(cluster)
  if (reason) throw new Conflict(reason)
  return { cluster, version: (await rolledOutVersion(db, cluster))! }
}

/**
 * Starts an operation that installs Slurm on nodes and adds them to a managed cluster. Nodes that fail stay out with the reason; the
 * others continue.
 * @throws Forbidden; NotFound; Conflict the cluster is not managed, has another operation, or max_nodes would be exceeded, or the nodes or the
 * configuration changed since the preview; InvalidInput naming each node that cannot join
 */
export async function scaleOutSlurmCluster(ctx: Ctx, input: z.input<typeof ScaleOutSlurmClusterInput>): Promise<SlurmOperation> {
  authorizeSomewhere(ctx, slurmScalePermissions.nodes)
  const { idempotencyKey, fingerprint, reason, ...request } = parseInput(ScaleOutSlurmClusterInput, input)
  const key = {
    verb: 'scaleOutSlurmCluster',
    key: idempotencyKey,
    input: { ...request, reason, fingerprint },
    result: oneRow(slurmOperations),
  }
  return idempotent(ctx, key, async (tx, ctx) => {
    const found = await preview(tx, ctx, request)
    await lockCandidates(
      tx,
      ctx,
      found.candidates.map(({ node }) => node.id),
    )
    const { candidates, blockedReason, fingerprint: current } = await preview(tx, ctx, request)
    assertUnblocked(candidates, request.nodeIds ? 'nodeIds' : 'limit')
    if (blockedReason) throw new Conflict(blockedReason)
    if (fingerprint !== current)
      throw new Conflict('The nodes or the configuration changed since the preview. Preview the scale-out again.')
    const nodes = candidates.map(({ node, config }) => ({ ...config!, nodeId: node.id }))
    const plan: ScaleOutPlan = { nodes, partitions: request.partitions }
    return insertOperation(tx, ctx, {
      clusterId: request.clusterId,
      kind: 'SCALE_OUT',
      input: { partitions: request.partitions },
      plan,
      reason,
      nodes: nodes.map(({ nodeId, name }) => ({ nodeId, name })),
    })
  })
}
