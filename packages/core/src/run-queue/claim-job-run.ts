import { randomUUID } from 'node:crypto'
import { and, eq, isNull, ne, or, sql } from 'drizzle-orm'
import { tenants } from '../access/tables.ts'
import { audit } from '../audit/index.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { authorize, inTransaction } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { sqlState, UNIQUE_VIOLATION, visibleTo } from '../kernel/db/rows.ts'
import { startMaintenanceOfRun } from '../node-states/index.ts'
import { jobRunAudit } from '../runs/audit-actions.ts'
import { jobRunChanged } from '../runs/change-events.ts'
import { type JobRun, jobRunHosts, jobRuns } from '../runs/tables.ts'
import { isNext } from './node-locks.ts'
import { queuePermissions } from './permissions.ts'
import { isOpen, isTenantsTurn } from './queue-order.ts'
import { nodeLocks } from './tables.ts'

/** `token` is the fencing token. Every write of the worker carries it and is valid only while the run has that token. */
export type Claim = { run: JobRun; token: string; hosts: { name: string; nodeId: string | null }[] }
type Claimant = { id: string; workerId: string; token: string; isLimited: boolean }

const DEADLOCK = '40P01'

/**
 * Claims a run for the worker and locks its nodes. Returns null when the run was deleted, canceled, finished or claimed by
 * another worker. Also returns null when the locks are not free or the tenant may not start a run. The row then records that the run
 * waits, and a reconciler enqueues it later.
 * @param token the claim's token; a call with it may be repeated after a lost response
 * @param isLimited false only for a tenant without a limit on concurrent runs: claims then need not wait for each other
 */
export async function claimJobRun(
  ctx: Ctx,
  { id, workerId, token = randomUUID(), isLimited = true }: { id: string; workerId: string; token?: string; isLimited?: boolean },
): Promise<Claim | null> {
  authorize(ctx, queuePermissions.claim)
  const claimant = { id, workerId, token, isLimited }
  const [first, hosts] = await Promise.all([
    claim(ctx, claimant),
    ctx.db
      .select({ name: jobRunHosts.name, nodeId: jobRunHosts.nodeId })
      .from(jobRunHosts)
      .where(and(eq(jobRunHosts.jobRunId, id), ne(jobRunHosts.result, 'OFFLINE')))
      .orderBy(jobRunHosts.name),
  ])
  const run = first ?? ((await wait(ctx, id)) ? await claim(ctx, claimant) : null)
  if (!run) return null
  // Committed before the worker connects.
  await inTransaction(ctx, async (tx, ctx) => {
    if (run.setsMaintenance) {
      const nodeIds = hosts.flatMap(({ nodeId }) => nodeId ?? [])
      for (const changeEvent of await startMaintenanceOfRun(tx, run, nodeIds)) ctx.notify(changeEvent)
    }
    await audit(tx, ctx, jobRunAudit.execute, { id, name: run.templateName }, { hosts: hosts.length }, { runId: id })
  })
  ctx.notify(jobRunChanged({ id, tenantId: ctx.tenantId }))
  return { run, token, hosts }
}

/** Locks all nodes or none, in one statement. When two claims compete for a node, the unique index admits one. */
async function claimIn(db: Db | Tx, ctx: Ctx, { id, workerId, token }: Claimant): Promise<JobRun | null> {
  const run = db.$with('run').as(
    db
      .update(jobRuns)
      .set({ startedAt: sql`now()`, workerSeenAt: sql`now()`, waitingSince: null, claimToken: token, claimedBy: workerId })
      .where(
        and(
          visibleTo(ctx, jobRuns),
          eq(jobRuns.id, id),
          or(and(isOpen, isTenantsTurn, isNext), and(isNull(jobRuns.finishedAt), eq(jobRuns.claimToken, token))),
        ),
      )
      .returning(),
  )
  const locks = db.$with('locks').as(
    db
      .update(nodeLocks)
      .set({ acquiredAt: sql`coalesce(${nodeLocks.acquiredAt}, now())` })
      .from(run)
      .where(eq(nodeLocks.jobRunId, run.id))
      .returning({ nodeId: nodeLocks.nodeId }),
  )
  const [claimed] = await db.with(run, locks).select().from(run)
  return claimed ?? null
}

async function claim(ctx: Ctx, claimant: Claimant): Promise<JobRun | null> {
  try {
    if (!claimant.isLimited) return await claimIn(ctx.db, ctx, claimant)
    return await ctx.db.transaction(async (tx) => {
      // Serialize claims of the tenant, so that each one counts the runs that earlier claims started.
      await tx.select({ id: tenants.id }).from(tenants).where(eq(tenants.id, ctx.tenantId)).for('no key update')
      return claimIn(tx, ctx, claimant)
    })
  } catch (error) {
    if ([UNIQUE_VIOLATION, DEADLOCK].includes(sqlState(error) ?? '')) return null
    throw error
  }
}

/**
 * Marks the run as waiting. Callers that release nodes later read the mark. The caller retries the claim once, in case nodes were
 * released just before.
 */
async function wait(ctx: Ctx, id: string): Promise<boolean> {
  const [waiting] = await ctx.db
    .update(jobRuns)
    .set({ waitingSince: sql`coalesce(${jobRuns.waitingSince}, now())` })
    .where(and(visibleTo(ctx, jobRuns), eq(jobRuns.id, id), isOpen))
    .returning({ id: jobRuns.id })
  if (waiting) ctx.notify(jobRunChanged({ id, tenantId: ctx.tenantId }))
  return waiting !== undefined
}
