import {
  type Gres,
  nodeStateWord,
  type SlurmJob,
  type SlurmLicense,
  type SlurmNode,
  type SlurmPartition,
  type SlurmReservation,
  type SlurmScheduler,
} from '@muster/slurm'
import { and, arrayContains, eq, isNotNull, not, notInArray, type SQL, sql } from 'drizzle-orm'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import { InvalidInput } from '../kernel/errors.ts'
import { expandHostlist } from '../selection/index.ts'
import { slurmClusterChanged } from './change-events.ts'
import { changedReports, type StoredReports } from './changed-reports.ts'
import { findSameCluster } from './find-same-cluster.ts'
import { lockMatches, matchNodes } from './matching/match-nodes.ts'
import { slurmClusterPermissions } from './permissions.ts'
import { slurmRefreshQueue } from './queues.ts'
import {
  type ClusterIdentity,
  type QueryReport,
  type SlurmCluster,
  slurmClusters,
  slurmJobs,
  slurmNodes,
  slurmPartitions,
} from './tables.ts'

/** What one refresh read. */
export type ClusterState = ClusterIdentity & {
  /** Null when the configuration was not read this time. */
  settings: Record<string, string> | null
  nodes: SlurmNode[]
  partitions: SlurmPartition[]
  reservations: SlurmReservation[]
  jobs: SlurmJob[]
  scheduler: SlurmScheduler | null
  /** Absent or null when they were not read: the known ones stay. */
  licenses?: SlurmLicense[] | null
}
export type RefreshOutcome = {
  id: string
  /** Of the claim under which it was read. */
  claimToken: string
  queries: QueryReport[]
  durationMs: number
  /** Null: it failed, for the reason `error`. */
  state: ClusterState | null
  error: string | null
  /** What is stored, read under the claim. */
  stored: StoredReports
  /** The node through which it was read, and why it was not the first one. */
  readNodeId?: string | null
  fallbackReason?: string | null
}

/** Seconds between two refreshes of nodes and jobs. */
const INTERVAL_S = 30
/** A refresh that takes long is repeated after this many times its duration, so that it loads the controller little. */
const REST_FACTOR = 9
/** A cluster that does not answer is asked after 30 s, then less and less often. */
const MAX_BACKOFF_S = 600
const ROWS_AT_ONCE = 1000

/**
 * Ends a refresh. Success replaces what is known of the cluster; failure keeps it, with its age and the reason.
 * @returns the cluster; null when it was removed, the claim was lost, or the controller was changed meanwhile: nothing was stored
 */
export async function recordSlurmRefresh(ctx: Ctx, outcome: RefreshOutcome): Promise<SlurmCluster | null> {
  authorize(ctx, slurmClusterPermissions.report)
  const sanitized = sanitizeOutcome(outcome)
  const { id, claimToken, queries, durationMs, stored } = sanitized
  return inTransaction(ctx, async (tx, ctx) => {
    const scope = and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, id), eq(slurmClusters.claimToken, claimToken))
    const [before] = await tx.select().from(slurmClusters).where(scope).for('no key update')
    if (!before) return null
    await lockMatches(tx, ctx)
    const isAskedAgain = before.nextRefreshAt.getTime() !== before.claimedUntil?.getTime()
    const { state, error } = await withoutSameCluster(tx, ctx, before, sanitized)
    const shared = { queries, refreshDurationMs: Math.round(durationMs) }
    const [cluster] = await tx
      .update(slurmClusters)
      .set({
        ...shared,
        ...(state ? successOf(before, state, sanitized) : failureOf(before, error)),
        ...(isAskedAgain ? { nextRefreshAt: before.nextRefreshAt, settingsReadAt: before.settingsReadAt } : {}),
        claimToken: null,
        claimedUntil: null,
      })
      .where(scope)
      .returning()
    if (state) {
      await replaceNodes(tx, ctx, id, state, stored)
      await replacePartitions(tx, ctx, id, state.partitions)
      await replaceJobs(tx, ctx, id, state.jobs, stored)
      await matchNodes(tx, ctx, id)
    }
    // The queue entry of that request found the cluster claimed.
    if (isAskedAgain) await ctx.queue.send(tx, slurmRefreshQueue, [cluster!])
    ctx.notify(slurmClusterChanged(cluster!))
    return cluster!
  })
}

/** Nodes and jobs are sanitized when they are written: they are many, and few of them change. */
function sanitizeOutcome({ state, stored, ...outcome }: RefreshOutcome): RefreshOutcome {
  if (!state) return { ...sanitizeForPostgres(outcome), state, stored }
  const { nodes, jobs, ...rest } = state
  return { ...sanitizeForPostgres(outcome), state: { ...sanitizeForPostgres(rest), nodes, jobs }, stored }
}

/** Refuses the data of a cluster that another one already shows. The caller holds `lockMatches`. */
async function withoutSameCluster(
  tx: Tx,
  ctx: Ctx,
  { id }: SlurmCluster,
  { state, error }: RefreshOutcome,
): Promise<Pick<RefreshOutcome, 'state' | 'error'>> {
  const same = state ? await findSameCluster(tx, ctx, id, state) : null
  return same === null
    ? { state, error }
    : { state: null, error: `This is the cluster ${same}, seen from another host. Remove one of the two.` }
}

const inSeconds = (seconds: number): SQL => sql`now() + make_interval(secs => ${seconds})`

function successOf(
  before: SlurmCluster,
  state: ClusterState,
  { durationMs, readNodeId = null, fallbackReason = null }: RefreshOutcome,
) {
  return {
    clusterName: state.clusterName ?? before.clusterName,
    originalClusterName: before.originalClusterName ?? state.clusterName,
    version: state.version,
    controllers: state.controllers,
    reservations: state.reservations,
    scheduler: state.scheduler,
    ...(state.licenses ? { licenses: state.licenses } : {}),
    ...(state.settings ? { settings: state.settings, settingsReadAt: sql`now()` } : {}),
    discoveredAt: sql`coalesce(${slurmClusters.discoveredAt}, now())`,
    refreshedAt: sql`now()`,
    readNodeId,
    fallbackReason,
    failingSince: null,
    failureCount: 0,
    lastError: null,
    nextRefreshAt: inSeconds(Math.max(INTERVAL_S, (REST_FACTOR * durationMs) / 1000)),
  }
}

function failureOf(before: SlurmCluster, error: string | null) {
  return {
    failingSince: sql`coalesce(${slurmClusters.failingSince}, now())`,
    failureCount: before.failureCount + 1,
    lastError: error,
    nextRefreshAt: inSeconds(Math.min(INTERVAL_S * 2 ** Math.min(before.failureCount, 10), MAX_BACKOFF_S)),
  }
}

/** A number that a controller printed, as an integer column holds it. */
const toCount = (value: number): number => Math.max(0, Math.min(2 ** 31 - 1, Math.round(value)))

const countOfGpus = (gres: Gres[]): number =>
  toCount(gres.filter(({ name }) => name === 'gpu').reduce((sum, { count }) => sum + count, 0))

async function replaceNodes(
  tx: Tx,
  ctx: Ctx,
  clusterId: string,
  { nodes, partitions }: Pick<ClusterState, 'nodes' | 'partitions'>,
  stored: StoredReports,
): Promise<void> {
  const byName = new Map(nodes.map((node) => [sanitizeForPostgres(node.name), node]))
  const { changed, gone } = changedReports(stored.nodes, byName)
  for (const chunk of chunksOf(changed))
    await tx
      .insert(slurmNodes)
      .values(
        chunk.map(({ key, report, digest }) => ({
          tenantId: ctx.tenantId,
          clusterId,
          name: key,
          states: report.states,
          state: nodeStateWord(report.states),
          partitions: report.partitions,
          cpus: toCount(report.cpus),
          allocatedCpus: toCount(report.allocatedCpus),
          gpus: countOfGpus(report.gres),
          allocatedGpus: countOfGpus(report.gresUsed),
          report,
          digest,
        })),
      )
      .onConflictDoUpdate({
        target: [slurmNodes.clusterId, slurmNodes.name],
        set: {
          states: sql`excluded.states`,
          state: sql`excluded.state`,
          partitions: sql`excluded.partitions`,
          cpus: sql`excluded.cpus`,
          allocatedCpus: sql`excluded.allocated_cpus`,
          gpus: sql`excluded.gpus`,
          allocatedGpus: sql`excluded.allocated_gpus`,
          report: sql`excluded.report`,
          digest: sql`excluded.digest`,
        },
      })
  if (gone.length === 0) return
  const isHidden = await keepHiddenNodes(tx, clusterId, gone, partitions)
  const isGone = and(eq(slurmNodes.clusterId, clusterId), isOneOf(slurmNodes.name, gone, 'text'))
  await tx.delete(slurmNodes).where(and(isGone, isHidden && not(isHidden)))
}

/** The controller does not say whether the node is also DOWN or drained. */
const HIDDEN_STATES = ['UNKNOWN', 'CLOUD', 'POWERED_DOWN']

/**
 * Keeps CLOUD nodes that are powered down. Before 23.02, Slurm lists them only in their partitions, unless PrivateData has `cloud`.
 * @returns condition of these rows; undefined when there are none
 */
async function keepHiddenNodes(tx: Tx, clusterId: string, gone: string[], partitions: SlurmPartition[]) {
  const listed = new Set(partitions.flatMap(({ nodes }) => nodeNames(nodes)))
  const names = gone.filter((name) => listed.has(name))
  if (names.length === 0) return undefined
  const isHidden = and(isOneOf(slurmNodes.name, names, 'text'), arrayContains(slurmNodes.states, ['CLOUD']))!
  const unknown = {
    states: HIDDEN_STATES,
    allocatedCpus: 0,
    allocatedMemory: 0,
    gresUsed: [],
    cpuLoad: null,
    freeMemory: null,
    bootAt: null,
  }
  await tx
    .update(slurmNodes)
    .set({
      ...{ states: HIDDEN_STATES, state: nodeStateWord(HIDDEN_STATES), allocatedCpus: 0, allocatedGpus: 0 },
      report: sql`${slurmNodes.report} || ${JSON.stringify(unknown)}::jsonb`,
      digest: null,
    })
    .where(and(eq(slurmNodes.clusterId, clusterId), isHidden, isNotNull(slurmNodes.digest)))
  return isHidden
}

async function replacePartitions(tx: Tx, ctx: Ctx, clusterId: string, partitions: SlurmPartition[]): Promise<void> {
  for (const chunk of chunksOf(partitions))
    await tx
      .insert(slurmPartitions)
      .values(chunk.map((report) => ({ tenantId: ctx.tenantId, clusterId, name: report.name, report })))
      .onConflictDoUpdate({
        target: [slurmPartitions.clusterId, slurmPartitions.name],
        set: { report: sql`excluded.report` },
        setWhere: sql`${slurmPartitions.report} is distinct from excluded.report`,
      })
  const names = partitions.map(({ name }) => name)
  await tx
    .delete(slurmPartitions)
    .where(and(eq(slurmPartitions.clusterId, clusterId), names.length > 0 ? notInArray(slurmPartitions.name, names) : undefined))
}

/** A hostlist that Slurm printed; an unreadable one names no node. */
function nodeNames(hostlist: string): string[] {
  try {
    return expandHostlist(hostlist)
  } catch (error) {
    if (error instanceof InvalidInput) return []
    throw error
  }
}

/** As squeue shows it: 15, 3_1, 3_[2-9%2], 12+1. */
export function shownJobId({ id, arrayJobId, arrayTaskId, arrayTasks, hetJobId, hetJobOffset }: SlurmJob): string {
  if (hetJobId !== null) return `${hetJobId}+${hetJobOffset ?? 0}`
  if (arrayJobId === null) return String(id)
  return arrayTaskId === null ? `${arrayJobId}_[${arrayTasks ?? ''}]` : `${arrayJobId}_${arrayTaskId}`
}

async function replaceJobs(tx: Tx, ctx: Ctx, clusterId: string, jobs: SlurmJob[], stored: StoredReports): Promise<void> {
  const byId = new Map(jobs.map((job) => [sanitizeForPostgres(shownJobId(job)), job]))
  const { changed, gone } = changedReports(stored.jobs, byId)
  for (const chunk of chunksOf(changed))
    await tx
      .insert(slurmJobs)
      .values(
        chunk.map(({ key, report, digest }) => ({
          tenantId: ctx.tenantId,
          clusterId,
          jobId: key,
          state: report.states[0] ?? 'UNKNOWN',
          reason: report.reason,
          userName: report.user,
          partition: report.partition,
          nodeNames: nodeNames(report.nodes),
          report,
          digest,
        })),
      )
      .onConflictDoUpdate({
        target: [slurmJobs.clusterId, slurmJobs.jobId],
        set: {
          state: sql`excluded.state`,
          reason: sql`excluded.reason`,
          nodeNames: sql`excluded.node_names`,
          userName: sql`excluded.user_name`,
          partition: sql`excluded.partition`,
          report: sql`excluded.report`,
          digest: sql`excluded.digest`,
        },
      })
  if (gone.length > 0)
    await tx.delete(slurmJobs).where(and(eq(slurmJobs.clusterId, clusterId), isOneOf(slurmJobs.jobId, gone, 'text')))
}

function chunksOf<T>(rows: T[]): T[][] {
  return Array.from({ length: Math.ceil(rows.length / ROWS_AT_ONCE) }, (_, i) =>
    rows.slice(i * ROWS_AT_ONCE, (i + 1) * ROWS_AT_ONCE),
  )
}
