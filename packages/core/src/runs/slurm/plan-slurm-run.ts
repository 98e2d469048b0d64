import { setImmediate } from 'node:timers/promises'
import { and, desc, eq, isNotNull, isNull, or, sql } from 'drizzle-orm'
import { authorizeTargets, slurmNodes } from '../../clusters/index.ts'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, InvalidInput } from '../../kernel/errors.ts'
import type { LeanNode } from '../../nodes/tables.ts'
import { foldHostlist } from '../../selection/index.ts'
import { slurmNodePermissions } from '../../slurm-actions/index.ts'
import { jobRunSlurmNodes, jobRuns } from '../tables.ts'
import {
  blockingPartitions,
  chooseBatch,
  freeAt,
  type NodeReason,
  type PartitionCapacity,
  partitionCapacities,
} from './choose-batch.ts'
import { type ClusterView, isOut, readClusterView, type ViewJob } from './cluster-view.ts'
import type { SlurmRunOptions } from './options.ts'
import { readOtherWork } from './other-work.ts'

type Node = Pick<LeanNode, 'id' | 'name'>
export type SlurmTargets = { view: ClusterView; hosts: { name: string; node: Node }[] }

/**
 * Finds the Slurm nodes of the run's nodes, which the caller must be permitted to drain and resume.
 * @throws Forbidden; InvalidInput nodes that no cluster has, or of several clusters, or in another unfinished run over batches, or that the floor protects;
 *   Conflict the cluster has no controller
 */
export async function findSlurmTargets(
  db: Tx | Ctx['db'],
  ctx: Ctx,
  nodes: readonly Node[],
  { floorPercent }: SlurmRunOptions,
): Promise<SlurmTargets> {
  const ids = nodes.map(({ id }) => id)
  const rows = await db
    .select({ name: slurmNodes.name, nodeId: slurmNodes.nodeId, clusterId: slurmNodes.clusterId })
    .from(slurmNodes)
    .where(and(visibleTo(ctx, slurmNodes), isOneOf(slurmNodes.nodeId, ids)))
    .orderBy(slurmNodes.name)
  const refuse = (message: string, path = 'slurm'): never => {
    throw new InvalidInput([{ path, message }])
  }
  const known = new Set(rows.map(({ nodeId }) => nodeId))
  const missing = nodes.filter(({ id }) => !known.has(id)).map(({ name }) => name)
  if (missing.length > 0) refuse(`${foldHostlist(missing)}: no node of a Slurm cluster`)
  const clusterIds = [...new Set(rows.map(({ clusterId }) => clusterId))]
  if (clusterIds.length > 1) refuse('the nodes belong to several clusters; start one run per cluster')
  const view = (await readClusterView(db, ctx, clusterIds[0]!))!
  const { cluster } = view
  const targets = rows.map(({ name }) => ({ target: name, partitions: view.nodes.get(name)!.partitions }))
  for (const permission of [slurmNodePermissions.drain, slurmNodePermissions.resume])
    authorizeTargets(ctx, permission, cluster, targets)
  if (!cluster.controllerNodeId) throw new Conflict(`The cluster ${cluster.name} has no controller node. Choose one.`)
  const busy = await unfinishedRunOf(db, ctx, cluster.id, rows)
  if (busy) refuse(`${foldHostlist(busy.hosts)}: in the unfinished run ${busy.number}; wait for its end, or cancel it`)
  const protectedPartitions = blockingPartitions(
    view,
    rows.map(({ name }) => name),
    floorPercent,
  )
  if (protectedPartitions.length > 0)
    refuse(`lets no node of the partition ${protectedPartitions.join(' and ')} be drained`, 'slurm.floorPercent')
  const byId = new Map(nodes.map((node) => [node.id, node]))
  return { view, hosts: rows.map(({ name, nodeId }) => ({ name, node: byId.get(nodeId!)! })) }
}

async function unfinishedRunOf(
  db: Tx | Ctx['db'],
  ctx: Ctx,
  clusterId: string,
  nodes: readonly { name: string; nodeId: string | null }[],
) {
  const names = nodes.map(({ name }) => name)
  const nodeIds = nodes.flatMap(({ nodeId }) => nodeId ?? [])
  const rows = await db
    .select({ number: jobRuns.number, host: jobRunSlurmNodes.host })
    .from(jobRunSlurmNodes)
    .innerJoin(jobRuns, eq(jobRuns.id, jobRunSlurmNodes.jobRunId))
    .where(
      and(
        visibleTo(ctx, jobRuns),
        isNull(jobRuns.finishedAt),
        // A node may have been matched to another node of the inventory since.
        or(
          isOneOf(jobRunSlurmNodes.nodeId, nodeIds),
          and(eq(jobRunSlurmNodes.clusterId, clusterId), isOneOf(jobRunSlurmNodes.name, names, 'text')),
        ),
      ),
    )
    .orderBy(jobRuns.number)
  const [first] = rows
  if (!first) return null
  return { number: first.number, hosts: rows.filter(({ number }) => number === first.number).map(({ host }) => host) }
}

export type PlannedBatch = {
  hosts: string[]
  /** Jobs that run on the nodes now. */
  jobs: ViewJob[]
  /** From its beginning until these jobs end, at most, by their time limits; null when one has no limit. */
  waitSeconds: number | null
}
export type SlurmRunPlan = {
  clusterId: string
  clusterName: string
  batches: PlannedBatch[]
  partitions: PartitionCapacity[]
  /** Nodes that others have drained or that are down: they are not resumed afterwards. */
  outOfService: string[]
  skipped: { host: string; reason: string }[]
  /** Nodes that no batch has yet, and what they wait for. */
  waiting: { host: string; reason: string }[]
  /** Why no batch can begin now; null when one can. */
  waitsFor: string | null
  /** Of the last successful run of the template; null when there was none. */
  playbookSeconds: number | null
  /** An estimate: the batches one after another, with the jobs that run now. Null when a job has no time limit. */
  estimatedSeconds: number | null
}

/** Batches that are chosen one by one. Those after them are cut from the rest: a preview of thousands of batches must not take minutes. */
const MAX_CHOSEN = 50

/** What a run over batches would do now. */
export async function planSlurmRun(
  ctx: Ctx,
  template: { id: string; timeoutSeconds: number },
  nodes: readonly Node[],
  options: SlurmRunOptions,
): Promise<SlurmRunPlan> {
  const { view, hosts } = await findSlurmTargets(ctx.db, ctx, nodes, options)
  const playbookSeconds = await lastDuration(ctx, template.id)
  const hostOf = new Map(hosts.map(({ name, node }) => [name, node.name]))
  const toHosts = (names: readonly string[]) => names.map((name) => hostOf.get(name)!)
  const toReasons = (list: readonly NodeReason[]) => list.map(({ name, reason }) => ({ host: hostOf.get(name)!, reason }))
  const start = Date.now()
  const clock = { deadlineMs: options.deadlineSeconds * 1000, runMs: (template.timeoutSeconds + options.healthSeconds) * 1000 }
  const batches: PlannedBatch[] = []
  const others = await readOtherWork(ctx.db, ctx, view.cluster.id, null)
  let pending = hosts.map(({ name, node }) => ({ name, nodeId: node.id }))
  let waitsFor: string | null = null
  let skipped: NodeReason[] = []
  let waiting: NodeReason[] = []
  let elapsedMs: number | null = 0
  while (pending.length > 0) {
    const now: number = start + (elapsedMs ?? 0)
    // Nodes of earlier batches are in service again when the next one begins.
    let names: string[]
    if (batches.length < MAX_CHOSEN) {
      const choice = chooseBatch(view, others, pending, options, { now, ...clock })
      if (batches.length === 0) waitsFor = choice.waitsFor
      ;({ skipped, waiting } = choice)
      names = choice.batch
      if (names.length === 0) {
        const known = new Set([...skipped, ...waiting].map(({ name }) => name))
        for (const { name } of pending) if (!known.has(name)) waiting.push({ name, reason: choice.waitsFor! })
        break
      }
      const isLast = batches.length === MAX_CHOSEN - 1
      const done = new Set([...names, ...(isLast ? [...skipped, ...waiting].map(({ name }) => name) : [])])
      pending = pending.filter(({ name }) => !done.has(name))
      // Other requests are answered in between.
      await setImmediate()
    } else {
      names = pending.slice(0, batches.at(-1)!.hosts.length).map(({ name }) => name)
      pending = pending.slice(names.length)
    }
    const members = names.map((name) => view.nodes.get(name)!)
    const until = Math.max(0, ...members.map((node) => freeAt(node, now)))
    const jobs = [...new Map(members.flatMap((node) => node.jobs).map((job) => [job.jobId, job])).values()]
    const waitMs: number | null = Number.isFinite(until) ? Math.max(0, until - now) : null
    batches.push({ hosts: toHosts(names), jobs, waitSeconds: waitMs === null ? null : Math.ceil(waitMs / 1000) })
    elapsedMs = elapsedMs === null || waitMs === null ? null : elapsedMs + waitMs + (playbookSeconds ?? 0) * 1000
  }
  const wanted = new Set(hosts.flatMap(({ name }) => view.nodes.get(name)?.partitions ?? []))
  return {
    clusterId: view.cluster.id,
    clusterName: view.cluster.name,
    batches,
    partitions: [...partitionCapacities(view, others, options.floorPercent).values()].filter(({ name }) => wanted.has(name)),
    outOfService: toHosts(hosts.map(({ name }) => name).filter((name) => isOut(view.nodes.get(name)!))),
    skipped: toReasons(skipped),
    waiting: toReasons(waiting),
    waitsFor,
    playbookSeconds,
    estimatedSeconds: elapsedMs === null ? null : Math.ceil(elapsedMs / 1000),
  }
}

async function lastDuration(ctx: Ctx, templateId: string): Promise<number | null> {
  const [last] = await ctx.db
    .select({ seconds: sql<number>`extract(epoch from ${jobRuns.finishedAt} - ${jobRuns.startedAt})::float8` })
    .from(jobRuns)
    .where(
      and(
        visibleTo(ctx, jobRuns),
        eq(jobRuns.templateId, templateId),
        eq(jobRuns.status, 'SUCCEEDED'),
        isNull(jobRuns.slurm),
        isNotNull(jobRuns.startedAt),
      ),
    )
    .orderBy(desc(jobRuns.id))
    .limit(1)
  return last ? Math.ceil(last.seconds) : null
}
