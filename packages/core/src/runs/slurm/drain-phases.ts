import { hasReason } from '@muster/slurm'
import { sql } from 'drizzle-orm'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import { computeNodes } from '../../nodes/tables.ts'
import type { SlurmActionItem } from '../../slurm-actions/tables.ts'
import { insertRun } from '../lifecycle/insert-run.ts'
import { settingsOfRun } from '../lifecycle/run-settings.ts'
import { type JobRunBatch, type JobRunSlurmNode, jobRunHosts } from '../tables.ts'
import { folded, startBlockers } from './choose-batch.ts'
import { type ClusterView, isBusy, isDrained, readClusterView } from './cluster-view.ts'
import { appendNotice } from './notices.ts'
import { readOtherWork } from './other-work.ts'
import { beginResuming } from './resume-phase.ts'
import {
  elapsedSeconds,
  hostsOf,
  isOverdue,
  maxRunMs,
  nodesOf,
  type Rollout,
  readAction,
  setNodes,
  setPhase,
  setWaitsFor,
} from './rollout.ts'

/** DRAINING: records which nodes Muster has drained. */
export async function finishDraining(tx: Tx, ctx: Ctx, rollout: Rollout, batch: JobRunBatch): Promise<boolean> {
  const action = await readAction(tx, batch.drainActionId!)
  if (action && !action.row.finishedAt) return false
  const members = nodesOf(rollout, batch)
  if (!action) return beginResuming(tx, ctx, rollout, batch, { error: 'The action that drains its nodes is gone.' })
  const drainReason = (action.row.action as { reason: string }).reason
  const items = new Map(action.items.map((item) => [item.target, item]))
  const isOurs = ({ result, after }: SlurmActionItem) =>
    // Not verified: perhaps drained. To resume compares the reason, so it does no harm.
    result === 'DONE' ||
    result === 'NOT_VERIFIED' ||
    (result === 'UNCHANGED' && hasReason({ reason: after?.slice(after.indexOf(': ') + 2) ?? null }, drainReason))
  const ours = members.filter(({ name }) => items.has(name) && isOurs(items.get(name)!))
  await setNodes(tx, ours, { drainReason, isDrained: true })
  for (const node of ours) Object.assign(node, { drainReason, isDrained: true })
  const problem = action.items.find(({ result }) => result !== 'DONE' && result !== 'UNCHANGED')
  if (!problem) {
    // A refresh from then on shows the drain.
    await setPhase(tx, batch, { phase: 'WAITING_FOR_JOBS', phaseSince: action.row.finishedAt! })
    return true
  }
  const error = `The node ${problem.target} was not drained. ${problem.message ?? action.row.error ?? `Result: ${problem.result}.`}`
  return beginResuming(tx, ctx, rollout, batch, { error })
}

/** WAITING_FOR_JOBS: starts the playbook once no job is left on the drained nodes. */
export async function waitForJobs(tx: Tx, ctx: Ctx, rollout: Rollout, batch: JobRunBatch): Promise<boolean> {
  const { run, options } = rollout
  if (run.cancelRequestedAt) return beginResuming(tx, ctx, rollout, batch, { error: 'The run was canceled.' })
  const view = await readClusterView(tx, ctx, options.clusterId)
  const members = nodesOf(rollout, batch)
  // From the drain on: the wait for a worker, which may follow, counts for the same deadline.
  const isCurrent = view !== null && view.readAt !== null && view.readAt >= batch.phaseSince.getTime()
  const isLate = isOverdue(elapsedSeconds(rollout, batch.createdAt), options.deadlineSeconds, isCurrent)
  if (!isCurrent) {
    const waitsFor = `a refresh of the cluster ${options.clusterName}`
    if (!isLate) await setWaitsFor(tx, ctx, rollout, waitsFor)
    return (
      isLate && beginResuming(tx, ctx, rollout, batch, { error: `No ${waitsFor.slice(2)} succeeded in time.`, isTimedOut: true })
    )
  }
  const open = members.filter(({ name }) => !view.nodes.has(name) || !isDrained(view.nodes.get(name)!))
  if (open.length > 0) {
    await setNodes(tx, open, { isDrained: false })
    for (const node of open) node.isDrained = false
    const error = `${hostsOf(open)}: no longer drained. Somebody resumed it, or removed it from the cluster.`
    return beginResuming(tx, ctx, rollout, batch, { error })
  }
  const what = await waitBeforePlaybook(tx, ctx, rollout, view, members)
  if (what !== null) {
    if (!isLate) {
      await setWaitsFor(tx, ctx, rollout, what)
      return false
    }
    const error = `The deadline of ${options.deadlineSeconds} s passed while it waited for ${what}.`
    return beginResuming(tx, ctx, rollout, batch, { error, isTimedOut: true })
  }
  const blocker = playbookBlocker(rollout, view, members)
  if (blocker) return beginResuming(tx, ctx, rollout, batch, { error: blocker })
  return startPlaybook(tx, ctx, rollout, batch, members)
}

/** Jobs on the nodes, or an operation that handles them; null when the playbook can begin. */
async function waitBeforePlaybook(
  tx: Tx,
  ctx: Ctx,
  { run, options }: Rollout,
  view: ClusterView,
  members: readonly JobRunSlurmNode[],
): Promise<string | null> {
  const busy = members.filter(({ name }) => isBusy(view.nodes.get(name)!))
  if (busy.length > 0) {
    const jobs = [...new Set(busy.flatMap(({ name }) => view.nodes.get(name)!.jobs.map(({ jobId }) => jobId)))]
    return `${jobs.length === 0 ? 'jobs' : `the ${jobs.length === 1 ? 'job' : 'jobs'} ${shown(jobs)}`} on ${hostsOf(busy)}`
  }
  const { operationOf } = await readOtherWork(tx, ctx, options.clusterId, run.id)
  return members.map(({ name }) => operationOf(name)).find((operation) => operation !== null) ?? null
}

/** What changed since the nodes were chosen, such as a new reservation; null when the playbook may begin. */
export function playbookBlocker(rollout: Rollout, view: ClusterView, members: readonly JobRunSlurmNode[]): string | null {
  const blockerOf = startBlockers(view, rollout.options, { now: rollout.now, runMs: maxRunMs(rollout) })
  for (const node of members) {
    const blocker = blockerOf(node)
    if (blocker) return `${node.host}: the playbook did not begin. ${blocker}`
  }
  return null
}

const MAX_SHOWN = 20
const shown = (jobs: string[]): string =>
  jobs.slice(0, MAX_SHOWN).join(', ') + (jobs.length > MAX_SHOWN ? ` and ${jobs.length - MAX_SHOWN} more` : '')

async function startPlaybook(
  tx: Tx,
  ctx: Ctx,
  rollout: Rollout,
  batch: JobRunBatch,
  members: JobRunSlurmNode[],
): Promise<boolean> {
  const { run } = rollout
  const ids = members.flatMap(({ nodeId }) => nodeId ?? [])
  const found = await tx
    .select({ id: computeNodes.id, name: computeNodes.name })
    .from(computeNodes)
    .where(sql`${visibleTo(ctx, computeNodes)} and ${isOneOf(computeNodes.id, ids)}`)
    .for('share')
  if (found.length < members.length)
    return beginResuming(tx, ctx, rollout, batch, { error: 'A node of the batch was deleted from the inventory.' })
  // The names of the run's hosts, also when a node was renamed.
  const hosts = members.map(({ nodeId, host }) => ({ id: nodeId!, name: host }))
  const child = await insertRun(
    tx,
    ctx,
    {
      ...settingsOfRun(run),
      limit: folded(hosts.map(({ name }) => name)),
      reason: run.reason,
      createdById: run.createdById,
      createdByName: run.createdByName,
    },
    hosts,
  )
  await tx
    .update(jobRunHosts)
    .set({ result: 'RUNNING' })
    .where(
      sql`${jobRunHosts.jobRunId} = ${run.id} and ${isOneOf(
        jobRunHosts.name,
        hosts.map(({ name }) => name),
        'text',
      )}`,
    )
  await setPhase(tx, batch, { phase: 'RUNNING', childRunId: child.id })
  await setWaitsFor(tx, ctx, rollout, null)
  await appendNotice(tx, ctx, run.id, `Batch ${batch.number}: no job is left. The run ${child.number} executes the playbook.`)
  return true
}
