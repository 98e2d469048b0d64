import { and, eq, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { Ctx, SystemCtx, Tx } from '../kernel/context.ts'
import { authorize } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { computeNodes } from '../nodes/tables.ts'
import { jobRunChanged } from '../runs/change-events.ts'
import { jobRunQueue } from '../runs/queues.ts'
import { jobRuns } from '../runs/tables.ts'
import { queuePermissions } from './permissions.ts'
import { isOpen, isTenantsTurn } from './queue-order.ts'
import { nodeLocks } from './tables.ts'

const ROWS_PER_INSERT = 5000
const AT_ONCE = 200
const MAX_BLOCKERS = 20
/** A run is lost when its worker gave no sign of life for this long. */
export const WORKER_LOST_AFTER_SECONDS = 30

/** Adds a run that changes its nodes to the lock queue of each node. */
export async function enqueueForLocks(tx: Tx, jobRunId: string, nodeIds: string[]): Promise<void> {
  for (let i = 0; i < nodeIds.length; i += ROWS_PER_INSERT)
    await tx.insert(nodeLocks).values(nodeIds.slice(i, i + ROWS_PER_INSERT).map((nodeId) => ({ nodeId, jobRunId })))
}

/** Condition on two rows of a node's lock queue: `other` holds the lock or precedes `own`. */
export const isBefore = (other: SQL, own: SQL): SQL =>
  sql`${other}.job_run_id <> ${own}.job_run_id and (${other}.acquired_at is not null or ${other}.job_run_id < ${own}.job_run_id)`

/** Condition: on at least one node, another run holds the lock or precedes this one. */
const isBehind = sql`exists (
  select from ${nodeLocks} own join ${nodeLocks} other on other.node_id = own.node_id
  where own.job_run_id = ${jobRuns.id} and ${isBefore(sql`other`, sql`own`)})`

/** Condition: no other run blocks this one on any of its nodes. */
export const isNext = sql`not ${isBehind}`

/** Removes these runs from all lock queues, whether they hold the locks or wait. */
export async function releaseLocks(tx: Tx, jobRunIds: string[]): Promise<void> {
  await tx.delete(nodeLocks).where(isOneOf(nodeLocks.jobRunId, jobRunIds))
}

/**
 * Reconciler, over all tenants. Enqueues waiting runs that no longer need to wait for nodes or for their tenant's limit, in the
 * order of their creation.
 * @returns number of enqueued runs
 */
export async function wakeWaitingJobRuns(ctx: SystemCtx): Promise<number> {
  authorize(ctx, queuePermissions.claim)
  const woken = await ctx.db.transaction(async (tx) => {
    const free = await tx
      .select({ id: jobRuns.id, tenantId: jobRuns.tenantId })
      .from(jobRuns)
      .where(and(isNotNull(jobRuns.waitingSince), isOpen, isTenantsTurn, isNext))
      .orderBy(jobRuns.id)
      .limit(AT_ONCE)
      .for('update', { skipLocked: true })
    if (free.length === 0) return free
    const ids = free.map((run) => run.id)
    await tx.update(jobRuns).set({ waitingSince: null, workerSeenAt: sql`now()` }).where(isOneOf(jobRuns.id, ids))
    await ctx.queue.send(tx, jobRunQueue, free)
    return free
  })
  for (const run of woken) ctx.notify(jobRunChanged(run))
  return woken.length
}

/** A run that blocks another one, and the hosts on which it does. */
export type Blocker = {
  runId: string
  number: number
  templateName: string
  /** Name of the user who started it. */
  ownerName: string
  hosts: string[]
  /** When it acquired the locks; null when it waits itself and came earlier. */
  acquiredAt: Date | null
}

/** Returns at most 20 blockers of each run, lock holders first. Runs without blockers are absent. */
export async function blockersOf(ctx: Ctx, runIds: string[]): Promise<Map<string, Blocker[]>> {
  const { rows } = await ctx.db.execute<Omit<Blocker, 'acquiredAt'> & { waiting: string; acquiredAt: string | null }>(sql`
    select own.job_run_id as waiting, r.id as "runId", r.number, r.template_name as "templateName", r.created_by_name as "ownerName",
      array_agg(n.name order by n.name) as hosts, max(other.acquired_at) as "acquiredAt"
    from ${nodeLocks} own
    join ${nodeLocks} other on other.node_id = own.node_id and ${isBefore(sql`other`, sql`own`)}
    join ${jobRuns} r on r.id = other.job_run_id
    join ${computeNodes} n on n.id = own.node_id
    where own.job_run_id = any(${sql.param(runIds)}::uuid[]) and own.acquired_at is null and r.tenant_id = ${ctx.tenantId}
    group by own.job_run_id, r.id
    order by max(other.acquired_at) nulls last, r.id`)
  const byRun = Map.groupBy(rows, (row) => row.waiting)
  return new Map(
    [...byRun].map(([id, blockers]) => [
      id,
      blockers
        .slice(0, MAX_BLOCKERS)
        .map(({ waiting: _, acquiredAt, ...rest }) => ({ ...rest, acquiredAt: acquiredAt ? new Date(acquiredAt) : null })),
    ]),
  )
}

/** Returns the runs that hold or wait for some of these nodes, lock holders first. A new run on the nodes would wait for them. */
export async function runsAtNodes(ctx: Ctx, nodeIds: string[]): Promise<Blocker[]> {
  const { rows } = await ctx.db.execute<Omit<Blocker, 'acquiredAt'> & { acquiredAt: string | null }>(sql`
    select r.id as "runId", r.number, r.template_name as "templateName", r.created_by_name as "ownerName",
      array_agg(n.name order by n.name) as hosts, max(l.acquired_at) as "acquiredAt"
    from ${nodeLocks} l
    join ${jobRuns} r on r.id = l.job_run_id
    join ${computeNodes} n on n.id = l.node_id
    where l.node_id = any(${sql.param(nodeIds)}::uuid[]) and r.tenant_id = ${ctx.tenantId}
    group by r.id
    order by max(l.acquired_at) nulls last, r.id
    limit ${MAX_BLOCKERS}`)
  return rows.map(({ acquiredAt, ...rest }) => ({ ...rest, acquiredAt: acquiredAt ? new Date(acquiredAt) : null }))
}

/** The run that holds a node's lock. The lock ends at `expiresAt` unless the worker's heartbeat renews it. */
export type NodeLock = { runId: string; ownerName: string; acquiredAt: Date; expiresAt: Date }

/** Returns the lock of each of these nodes, by node id. */
export async function locksOf(ctx: Ctx, nodeIds: string[]): Promise<Map<string, NodeLock>> {
  const rows = await ctx.db
    .select({ nodeId: nodeLocks.nodeId, run: jobRuns, acquiredAt: nodeLocks.acquiredAt })
    .from(nodeLocks)
    .innerJoin(jobRuns, eq(jobRuns.id, nodeLocks.jobRunId))
    .where(and(visibleTo(ctx, jobRuns), isOneOf(nodeLocks.nodeId, nodeIds), isNotNull(nodeLocks.acquiredAt)))
  return new Map(
    rows.map(({ nodeId, run, acquiredAt }) => [
      nodeId,
      {
        runId: run.id,
        ownerName: run.createdByName,
        acquiredAt: acquiredAt!,
        expiresAt: new Date(run.workerSeenAt!.getTime() + WORKER_LOST_AFTER_SECONDS * 1000),
      },
    ]),
  )
}
