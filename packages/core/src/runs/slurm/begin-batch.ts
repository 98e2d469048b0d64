import { hasReason } from '@muster/slurm'
import { and, eq, isNotNull, ne, or } from 'drizzle-orm'
import { tenants } from '../../access/tables.ts'
import { lockSlurmCluster } from '../../clusters/index.ts'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { newId } from '../../kernel/db/columns.ts'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import { insertSlurmAction, markedReason, slurmReason } from '../../slurm-actions/index.ts'
import { type JobRun, type JobRunSlurmNode, jobRunBatches, jobRunHosts, jobRunSlurmNodes } from '../tables.ts'
import { chooseBatch } from './choose-batch.ts'
import { type ClusterView, isDrained, readClusterView } from './cluster-view.ts'
import { appendNotice } from './notices.ts'
import { readOtherWork } from './other-work.ts'
import { elapsedSeconds, endRollout, hostsOf, isOverdue, maxRunMs, type Rollout, setNodes, setWaitsFor } from './rollout.ts'

/** A refresh that ended longer ago says too little about free nodes. */
const MAX_AGE_MS = 15 * 60_000

/** Begins the next batch, or ends the run. */
export async function beginBatch(tx: Tx, ctx: Ctx, rollout: Rollout): Promise<boolean> {
  const { run, options, batches, nodes, now } = rollout
  const last = batches.at(-1)
  if (run.cancelRequestedAt)
    return endRollout(tx, ctx, rollout, { endCause: 'cancel', error: `Canceled by ${run.cancelRequestedByName}.` })
  if (last?.phase === 'FAILED') {
    const error = `Batch ${last.number} failed, so no further one began. ${last.error}`
    return endRollout(
      tx,
      ctx,
      rollout,
      last.isTimedOut ? { endCause: 'timeout', error } : { endCause: 'exit', exitCode: 2, error },
    )
  }
  const pending = nodes.filter(({ batchId, outcome }) => batchId === null && outcome === null)
  if (pending.length === 0) {
    const skipped = nodes.filter(({ outcome }) => outcome === 'SKIPPED')
    const error = skipped.length > 0 ? `Not run on ${hostsOf(skipped)}; the hosts show why.` : null
    return endRollout(tx, ctx, rollout, { endCause: 'exit', exitCode: skipped.length > 0 ? 2 : 0, error })
  }
  await lockSlurmCluster(tx, ctx, options.clusterId)
  const view = await readClusterView(tx, ctx, options.clusterId)
  if (!view)
    return endRollout(tx, ctx, rollout, {
      endCause: 'error',
      error: `The cluster ${options.clusterName} was removed from Muster.`,
    })
  const since = last?.finishedAt ?? run.startedAt!
  const isCurrent = view.readAt !== null && view.readAt > Math.max(last?.finishedAt?.getTime() ?? 0, now - MAX_AGE_MS)
  const choice = (await isPaused(tx, ctx))
    ? { batch: [], skipped: [], waitsFor: 'the queue of runs, which is paused' }
    : isCurrent
      ? chooseBatch(view, await readOtherWork(tx, ctx, options.clusterId, run.id), pending, options, {
          now,
          deadlineMs: options.deadlineSeconds * 1000,
          runMs: maxRunMs(rollout),
        })
      : { batch: [], skipped: [], waitsFor: `a refresh of the cluster ${options.clusterName}` }
  if (choice.batch.length > 0) return drain(tx, ctx, rollout, view, new Set(choice.batch))
  if (choice.waitsFor === null) {
    for (const { name, reason } of choice.skipped) await skip(tx, run, nodes.find((node) => node.name === name)!, reason)
    return true
  }
  if (isOverdue(elapsedSeconds(rollout, since), options.deadlineSeconds, isCurrent))
    return endRollout(tx, ctx, rollout, {
      endCause: 'timeout',
      error: `No further batch could begin within ${options.deadlineSeconds} s. It waited for ${choice.waitsFor}.`,
    })
  await setWaitsFor(tx, ctx, rollout, choice.waitsFor)
  return false
}

/** Whether the run of a batch would not start now: its nodes would be drained for nothing. */
async function isPaused(tx: Tx, ctx: Ctx): Promise<boolean> {
  const stopped = or(isNotNull(tenants.suspendedAt), isNotNull(tenants.queuePausedAt))
  const rows = await tx
    .select({ id: tenants.id })
    .from(tenants)
    .where(and(eq(tenants.id, ctx.tenantId), stopped))
  return rows.length > 0
}

async function skip(tx: Tx, run: JobRun, node: JobRunSlurmNode, message: string): Promise<void> {
  await setNodes(tx, [node], { outcome: 'SKIPPED', message })
  await tx
    .update(jobRunHosts)
    .set({ result: 'UNREACHABLE', message })
    .where(and(eq(jobRunHosts.jobRunId, run.id), eq(jobRunHosts.name, node.host)))
}

/** Drains the nodes of a batch that others have not drained. Those of an earlier run of Muster become nodes of this one. */
async function drain(tx: Tx, ctx: Ctx, rollout: Rollout, view: ClusterView, names: Set<string>): Promise<true> {
  const { run, options, batches, nodes } = rollout
  const members = nodes.filter(({ name }) => names.has(name))
  const number = batches.length + 1
  const adopted = await adopt(tx, ctx, rollout, view, members)
  const open = members.filter(({ name }) => !isDrained(view.nodes.get(name)!))
  const drainActionId = open.length > 0 ? newId() : null
  const [batch] = await tx
    .insert(jobRunBatches)
    .values({
      tenantId: ctx.tenantId,
      jobRunId: run.id,
      number,
      phase: drainActionId ? 'DRAINING' : 'WAITING_FOR_JOBS',
      drainActionId,
    })
    .returning()
  await setNodes(tx, members, { batchId: batch!.id })
  await setWaitsFor(tx, ctx, rollout, null)
  if (drainActionId) {
    const reason = reasonOf(run)
    await insertSlurmAction(tx, ctx, {
      id: drainActionId,
      cluster: view.cluster,
      action: { verb: 'DRAIN_NODES', reason: markedReason(reason, drainActionId), keepDrained: true },
      reason,
      targets: open.map(({ name }) => name),
      createdBy: { createdById: run.createdById, createdByName: run.createdByName },
    })
  }
  const left = nodes.filter(({ batchId, outcome }) => batchId === null && outcome === null).length - members.length
  const others = members.filter((node) => !open.includes(node) && !adopted.has(node.id))
  const kept = others.length > 0 ? ` Already out of service, and not resumed afterwards: ${hostsOf(others)}.` : ''
  await appendNotice(tx, ctx, run.id, `Batch ${number}: ${hostsOf(members)} of ${options.clusterName}; ${left} left.${kept}`)
  return true
}

const reasonOf = ({ number, reason, templateName }: JobRun): string => slurmReason(`run ${number}: ${reason ?? templateName}`)

/** Takes over drains of earlier runs, by their reasons. @returns IDs of the nodes */
async function adopt(
  tx: Tx,
  ctx: Ctx,
  { run, options }: Rollout,
  view: ClusterView,
  members: readonly JobRunSlurmNode[],
): Promise<Set<string>> {
  const earlier = await tx
    .select()
    .from(jobRunSlurmNodes)
    .where(
      and(
        visibleTo(ctx, jobRunSlurmNodes),
        eq(jobRunSlurmNodes.clusterId, options.clusterId),
        eq(jobRunSlurmNodes.isDrained, true),
        ne(jobRunSlurmNodes.jobRunId, run.id),
        isOneOf(
          jobRunSlurmNodes.name,
          members.map(({ name }) => name),
          'text',
        ),
      ),
    )
  const adopted = new Set<string>()
  for (const before of earlier) {
    const node = members.find(({ name }) => name === before.name)!
    const { drainReason } = before
    const found = view.nodes.get(node.name)!
    if (!isDrained(found) || drainReason === null || !hasReason(found, drainReason)) continue
    await setNodes(tx, [node], { drainReason, isDrained: true })
    await setNodes(tx, [before], { isDrained: false, message: `Taken over by the run ${run.number}.` })
    adopted.add(node.id)
  }
  return adopted
}
