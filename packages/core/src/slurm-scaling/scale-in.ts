import { hasEnded } from '@muster/slurm'
import {
  type ConfigDiff,
  ConfigError,
  type ConfigPlan,
  diffConfig,
  nodeNames,
  parseConfig,
  planConfig,
  removeNodes,
} from '@muster/slurm/config'
import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { type SlurmCluster, slurmJobs, slurmNodes } from '../clusters/tables.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorizeSomewhere, type Ctx, type Tx } from '../kernel/context.ts'
import { Conflict, InvalidInput, parseInput } from '../kernel/errors.ts'
import { Id, singleLineText } from '../kernel/input.ts'
import { findNodesOfRuns } from '../runs/index.ts'
import { expandHostlist } from '../selection/index.ts'
import { insertOperation, lockCluster, type SlurmOperation, slurmOperations } from '../slurm-operations/index.ts'
import { fingerprintOf, MAX_NODES } from './candidates.ts'
import { slurmScalePermissions } from './permissions.ts'
import { OLDEST, scalableCluster } from './scale-out.ts'

const Targets = { clusterId: Id, hostlist: singleLineText(10_000) }

export const PreviewSlurmScaleInInput = z.object(Targets)
export const ScaleInSlurmClusterInput = z.object({
  ...Targets,
  reason: singleLineText(200),
  /** After this time, nodes with jobs stay in the cluster. At most a week. */
  deadlineSeconds: z
    .int()
    .min(0)
    .max(7 * 24 * 3600),
  fingerprint: z.string().max(100),
  idempotencyKey: IdempotencyKey,
})

export type ScaleInPlan = { names: string[]; deadlineAt: string }

export type ScaleInTarget = {
  name: string
  nodeId: string | null
  /** As sinfo shows it; null when the cluster does not list the node. */
  state: string | null
  /** IDs of jobs on the node. */
  jobs: string[]
  /** Why it cannot be removed now; null when it can. */
  blockedReason: string | null
}

export type SlurmScaleInPreview = {
  cluster: SlurmCluster
  targets: ScaleInTarget[]
  diff: ConfigDiff[]
  plan: ConfigPlan
  fingerprint: string
}

/**
 * Returns which nodes a scale-in would remove, with their jobs by the last refresh. Nothing runs.
 * @throws Forbidden; NotFound; Conflict the cluster is not managed; InvalidInput a node is not in the configuration
 */
export async function previewSlurmScaleIn(
  ctx: Ctx,
  input: z.input<typeof PreviewSlurmScaleInInput>,
): Promise<SlurmScaleInPreview> {
  authorizeSomewhere(ctx, slurmScalePermissions.nodes)
  return preview(ctx.db, ctx, parseInput(PreviewSlurmScaleInInput, input))
}

async function preview(
  db: Tx | Ctx['db'],
  ctx: Ctx,
  { clusterId, hostlist }: z.output<typeof PreviewSlurmScaleInInput>,
): Promise<SlurmScaleInPreview> {
  const { cluster, version } = await scalableCluster(db, ctx, clusterId)
  const configured = nodeNames(parseConfig(version.files['slurm.conf']))
  const names = expandHostlist(hostlist, { max: MAX_NODES })
  const unknown = names.filter((name) => !configured.includes(name))
  if (unknown.length > 0)
    throw new InvalidInput(
      unknown.slice(0, 20).map((name) => ({ path: 'hostlist', message: `the cluster ${cluster.name} has no node ${name}` })),
    )
  if (names.length >= configured.length)
    throw new InvalidInput([
      { path: 'hostlist', message: 'names all nodes; a cluster needs at least one. Release the cluster instead' },
    ])
  const rows = await db
    .select()
    .from(slurmNodes)
    .where(and(eq(slurmNodes.clusterId, clusterId)))
  const jobs = await db.select().from(slurmJobs).where(eq(slurmJobs.clusterId, clusterId)).orderBy(slurmJobs.jobId)
  const running = jobs.filter(({ report }) => report.states[0] !== 'PENDING' && !hasEnded(report))
  const runs = await findNodesOfRuns(db, ctx, clusterId)
  const targets = names.map((name) => {
    const run = runs.get(name)
    const row = rows.find((one) => one.name === name)
    return {
      name,
      nodeId: row?.nodeId ?? null,
      state: row?.state ?? null,
      jobs: running.filter(({ nodeNames }) => nodeNames.includes(name)).map(({ jobId }) => jobId),
      blockedReason:
        run === undefined ? null : `is in the unfinished run ${run}, which drains and resumes it; wait for its end, or cancel it`,
    }
  })
  const files = withoutNodes(version.files, names)
  return {
    cluster,
    targets,
    diff: diffConfig(version.files, files),
    plan: planConfig(version.files, files, cluster.version ?? OLDEST, { removesFreeNodes: true }),
    fingerprint: fingerprintOf([clusterId, version.number, names]),
  }
}

function withoutNodes(files: Parameters<typeof removeNodes>[0], names: string[]) {
  try {
    return removeNodes(files, names)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new InvalidInput([{ path: 'hostlist', message: error.message }])
  }
}

/**
 * Starts an operation that drains nodes, waits for the end of their jobs, and removes exactly these nodes from a managed cluster, with
 * Slurm on them. Nodes with jobs at the deadline stay, without the drain.
 * @throws Forbidden; NotFound; Conflict the cluster is not managed, has another operation, or the configuration changed since the preview;
 * InvalidInput naming each node that cannot be removed now
 */
export async function scaleInSlurmCluster(ctx: Ctx, input: z.input<typeof ScaleInSlurmClusterInput>): Promise<SlurmOperation> {
  authorizeSomewhere(ctx, slurmScalePermissions.nodes)
  const { idempotencyKey, fingerprint, reason, deadlineSeconds, ...request } = parseInput(ScaleInSlurmClusterInput, input)
  const key = {
    verb: 'scaleInSlurmCluster',
    key: idempotencyKey,
    input: { ...request, reason, deadlineSeconds, fingerprint },
    result: oneRow(slurmOperations),
  }
  return idempotent(ctx, key, async (tx, ctx) => {
    // A run that begins its next batch has the same lock.
    await lockCluster(tx, ctx, request.clusterId)
    const { targets, fingerprint: current } = await preview(tx, ctx, request)
    if (fingerprint !== current) throw new Conflict('The configuration changed since the preview. Preview the scale-in again.')
    const blocked = targets.filter(({ blockedReason }) => blockedReason !== null)
    if (blocked.length > 0)
      throw new InvalidInput(
        blocked.slice(0, 20).map(({ name, blockedReason }) => ({ path: 'hostlist', message: `${name}: ${blockedReason}` })),
      )
    const plan: ScaleInPlan = {
      names: targets.map(({ name }) => name),
      deadlineAt: new Date(Date.now() + deadlineSeconds * 1000).toISOString(),
    }
    return insertOperation(tx, ctx, {
      clusterId: request.clusterId,
      kind: 'SCALE_IN',
      input: { hostlist: request.hostlist, deadlineSeconds },
      plan,
      reason,
      nodes: targets.map(({ nodeId, name }) => ({ nodeId, name })),
    })
  })
}
