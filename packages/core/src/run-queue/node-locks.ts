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
const MOST_OBSTACLES = 20
/** A run that its worker has not touched for so long is lost. */
export const WORKER_LOST_AFTER_SECONDS = 30

/** Put a run that changes its nodes into the line at each of them. */
export async function enqueueForLocks(tx: Tx, jobRunId: string, nodeIds: string[]): Promise<void> {
  for (let i = 0; i < nodeIds.length; i += ROWS_PER_INSERT)
    await tx.insert(nodeLocks).values(nodeIds.slice(i, i + ROWS_PER_INSERT).map((nodeId) => ({ nodeId, jobRunId })))
}

/** Condition on two rows of the line at a node: `other` has it, or comes before `mine`. */
export const isBefore = (other: SQL, mine: SQL): SQL =>
  sql`${other}.job_run_id <> ${mine}.job_run_id and (${other}.acquired_at is not null or ${other}.job_run_id < ${mine}.job_run_id)`

/** Condition: at one node at least, another run has it or comes before this one. */
const isBehind = sql`exists (
  select from ${nodeLocks} mine join ${nodeLocks} other on other.node_id = mine.node_id
  where mine.job_run_id = ${jobRuns.id} and ${isBefore(sql`other`, sql`mine`)})`

/** Condition: no other run keeps this one from all its nodes. */
export const isNext = sql`not ${isBehind}`

/** Leave the line at every node, whether these runs had acquired theirs or waited. */
export async function releaseLocks(tx: Tx, jobRunIds: string[]): Promise<void> {
  await tx.delete(nodeLocks).where(isOneOf(nodeLocks.jobRunId, jobRunIds))
}

/**
 * Reconciler, over all tenants: runs that waited, for others on their nodes or for their tenant's turn, and need not any more go
 * into
 * the queue, in the order in which they were started.
 * @returns how many
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

/** Runs that another one waits for, and on which of its hosts. */
export type Blocker = {
  runId: string
  number: number
  templateName: string
  /** Who started it. */
  ownerName: string
  hosts: string[]
  /** Since when it has them; null: it waits itself, and was there before. */
  acquiredAt: Date | null
}

/** What runs wait for, by run, those that have nodes first; runs that wait for nobody are left out. At most 20 for each. */
export async function blockersOf(ctx: Ctx, runIds: string[]): Promise<Map<string, Blocker[]>> {
  const { rows } = await ctx.db.execute<Omit<Blocker, 'acquiredAt'> & { waiting: string; acquiredAt: string | null }>(sql`
    select mine.job_run_id as waiting, r.id as "runId", r.number, r.template_name as "templateName", r.created_by_name as "ownerName",
      array_agg(n.name order by n.name) as hosts, max(other.acquired_at) as "acquiredAt"
    from ${nodeLocks} mine
    join ${nodeLocks} other on other.node_id = mine.node_id and ${isBefore(sql`other`, sql`mine`)}
    join ${jobRuns} r on r.id = other.job_run_id
    join ${computeNodes} n on n.id = mine.node_id
    where mine.job_run_id = any(${sql.param(runIds)}::uuid[]) and mine.acquired_at is null and r.tenant_id = ${ctx.tenantId}
    group by mine.job_run_id, r.id
    order by max(other.acquired_at) nulls last, r.id`)
  const byRun = Map.groupBy(rows, (row) => row.waiting)
  return new Map(
    [...byRun].map(([id, blockers]) => [
      id,
      blockers
        .slice(0, MOST_OBSTACLES)
        .map(({ waiting: _, acquiredAt, ...rest }) => ({ ...rest, acquiredAt: acquiredAt ? new Date(acquiredAt) : null })),
    ]),
  )
}

/** Runs that have some of these nodes or wait for them, those that have some first: what a run that came now would wait for. */
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
    limit ${MOST_OBSTACLES}`)
  return rows.map(({ acquiredAt, ...rest }) => ({ ...rest, acquiredAt: acquiredAt ? new Date(acquiredAt) : null }))
}

/** Who has a node: a run that changes it. `expiresAt`: when it loses the node unless its worker gives a sign of life. */
export type NodeLock = { runId: string; ownerName: string; acquiredAt: Date; expiresAt: Date }

/** By node, the runs that have these nodes. */
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
