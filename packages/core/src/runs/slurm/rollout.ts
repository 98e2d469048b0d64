import { and, eq, sql } from 'drizzle-orm'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { isOneOf } from '../../kernel/db/rows.ts'
import { slurmActionItems, slurmActions } from '../../slurm-actions/index.ts'
import type { SlurmActionItem, SlurmActionRow } from '../../slurm-actions/tables.ts'
import { changeEventsOfEnd, type End, endJobRuns } from '../lifecycle/end-job-runs.ts'
import { type JobRun, type JobRunBatch, type JobRunSlurmNode, jobRunBatches, jobRunSlurmNodes, jobRuns } from '../tables.ts'
import { folded } from './choose-batch.ts'
import { appendNotice } from './notices.ts'
import type { SlurmRun } from './options.ts'

/** A run over batches, locked, with its progress. */
export type Rollout = {
  run: JobRun
  options: SlurmRun
  /** By the database's clock, in milliseconds since 1970. */
  now: number
  batches: JobRunBatch[]
  nodes: JobRunSlurmNode[]
}

export const nodesOf = ({ nodes }: Rollout, { id }: JobRunBatch): JobRunSlurmNode[] => nodes.filter((node) => node.batchId === id)

/** Longest time from the end of the jobs of a batch to its end, in milliseconds. */
export const maxRunMs = ({ run, options }: Rollout): number => (run.timeoutSeconds + options.healthSeconds) * 1000

export const hostsOf = (nodes: readonly JobRunSlurmNode[]): string => folded(nodes.map(({ host }) => host))

/** A refresh is requested after each command. After this time, the controller or its worker is considered silent. */
const REFRESH_SECONDS = 300

/** Whether the deadline of a wait has passed. Without a current refresh, the wait lasts at least REFRESH_SECONDS. */
export const isOverdue = (seconds: number, deadlineSeconds: number, isCurrent: boolean): boolean =>
  seconds > (isCurrent ? deadlineSeconds : Math.max(deadlineSeconds, REFRESH_SECONDS))

export const elapsedSeconds = ({ now }: Rollout, since: Date): number => (now - since.getTime()) / 1000

export async function setPhase(
  tx: Tx,
  batch: JobRunBatch,
  changes: Partial<typeof jobRunBatches.$inferInsert> & Pick<JobRunBatch, 'phase'>,
): Promise<void> {
  await tx
    .update(jobRunBatches)
    .set({ phaseSince: sql`clock_timestamp()`, ...changes })
    .where(eq(jobRunBatches.id, batch.id))
}

export async function setNodes(tx: Tx, nodes: readonly JobRunSlurmNode[], changes: Partial<JobRunSlurmNode>): Promise<void> {
  if (nodes.length === 0) return
  await tx
    .update(jobRunSlurmNodes)
    .set(changes)
    .where(
      isOneOf(
        jobRunSlurmNodes.id,
        nodes.map(({ id }) => id),
      ),
    )
}

/** Stores what the run waits for, and logs it when it is new. */
export async function setWaitsFor(tx: Tx, ctx: Ctx, { run, options }: Rollout, waitsFor: string | null): Promise<void> {
  if (options.waitsFor === waitsFor) return
  options.waitsFor = waitsFor
  await tx.update(jobRuns).set({ slurm: options }).where(eq(jobRuns.id, run.id))
  if (waitsFor !== null) await appendNotice(tx, ctx, run.id, `Waiting for ${waitsFor}.`)
}

/** An action with its items; null when it was pruned or its cluster removed. */
export async function readAction(tx: Tx, id: string): Promise<{ row: SlurmActionRow; items: SlurmActionItem[] } | null> {
  const [row] = await tx.select().from(slurmActions).where(eq(slurmActions.id, id))
  if (!row) return null
  const items = await tx
    .select()
    .from(slurmActionItems)
    .where(and(eq(slurmActionItems.actionId, id)))
    .orderBy(slurmActionItems.id)
  return { row, items }
}

/** Ends the run. Names the nodes that stay drained. */
export async function endRollout(tx: Tx, ctx: Ctx, rollout: Rollout, end: End): Promise<false> {
  const { run, nodes } = rollout
  await setWaitsFor(tx, ctx, rollout, null)
  const drained = nodes.filter(({ isDrained }) => isDrained)
  const left = drained.length > 0 ? `Still drained by this run: ${hostsOf(drained)}.` : null
  const error = [end.error, left].filter(Boolean).join(' ') || null
  const [ended] = await endJobRuns(tx, [run.id], { ...end, error }, error ?? 'All batches are done.')
  for (const changeEvent of changeEventsOfEnd(ended!)) ctx.notify(changeEvent)
  return false
}
