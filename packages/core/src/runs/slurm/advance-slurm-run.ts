import { and, asc, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { authorize, type Ctx, inTransaction, type Tx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { jobRunChanged } from '../change-events.ts'
import { jobRunPermissions } from '../permissions.ts'
import { jobRunBatches, jobRunSlurmNodes, jobRuns } from '../tables.ts'
import { beginBatch } from './begin-batch.ts'
import { finishDraining, waitForJobs } from './drain-phases.ts'
import { finishPlaybook, verifyNodes } from './playbook-phases.ts'
import { finishResuming } from './resume-phase.ts'
import type { Rollout } from './rollout.ts'

/** More than the phases of a batch: a pass never runs forever. */
const MAX_STEPS = 20

/**
 * Advances a run over batches of Slurm nodes as far as the state in the database permits. It connects to nothing: Slurm actions drain and
 * resume, runs execute the playbook, refreshes read the cluster, and each of them survives its worker. Any number of workers may call this,
 * at any time and any number of times; one of them advances the run.
 */
export async function advanceSlurmRun(ctx: Ctx, { id }: { id: string }): Promise<void> {
  authorize(ctx, jobRunPermissions.report)
  await inTransaction(ctx, async (tx, ctx) => {
    const rollout = await lockRollout(tx, ctx, id)
    if (!rollout) return
    for (let steps = 0; steps < MAX_STEPS; steps++) {
      await readProgress(tx, rollout)
      if (!(await step(tx, ctx, rollout))) return
      ctx.notify(jobRunChanged({ id, tenantId: ctx.tenantId }))
    }
  })
}

async function lockRollout(tx: Tx, ctx: Ctx, id: string): Promise<Rollout | null> {
  const [run] = await tx
    .select()
    .from(jobRuns)
    .where(and(visibleTo(ctx, jobRuns), eq(jobRuns.id, id), isNull(jobRuns.finishedAt), isNotNull(jobRuns.slurm)))
    .for('update', { skipLocked: true })
  if (!run) return null
  const { rows } = await tx.execute<{ now: string }>(sql`select extract(epoch from clock_timestamp()) * 1000 as now`)
  return { run, options: run.slurm!, now: Number(rows[0]!.now), batches: [], nodes: [] }
}

async function readProgress(tx: Tx, rollout: Rollout): Promise<void> {
  const { id } = rollout.run
  rollout.batches = await tx.select().from(jobRunBatches).where(eq(jobRunBatches.jobRunId, id)).orderBy(asc(jobRunBatches.number))
  rollout.nodes = await tx
    .select()
    .from(jobRunSlurmNodes)
    .where(eq(jobRunSlurmNodes.jobRunId, id))
    .orderBy(asc(jobRunSlurmNodes.name))
}

/** @returns whether something changed, so that a further step may be possible */
function step(tx: Tx, ctx: Ctx, rollout: Rollout): Promise<boolean> {
  const batch = rollout.batches.find(({ finishedAt }) => finishedAt === null)
  if (!batch) return beginBatch(tx, ctx, rollout)
  switch (batch.phase) {
    case 'DRAINING':
      return finishDraining(tx, ctx, rollout, batch)
    case 'WAITING_FOR_JOBS':
      return waitForJobs(tx, ctx, rollout, batch)
    case 'RUNNING':
      return finishPlaybook(tx, ctx, rollout, batch)
    case 'VERIFYING':
      return verifyNodes(tx, ctx, rollout, batch)
    default:
      return finishResuming(tx, ctx, rollout, batch)
  }
}
