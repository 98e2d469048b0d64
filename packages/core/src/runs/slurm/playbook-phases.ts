import { eq, sql } from 'drizzle-orm'
import { requestRefresh } from '../../clusters/index.ts'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { isOneOf } from '../../kernel/db/rows.ts'
import { requestCancel } from '../lifecycle/cancel-job-run.ts'
import { type HostResult, type JobRunBatch, jobRunHosts, jobRuns } from '../tables.ts'
import { healthProblem, isBusy, isDrained, readClusterView } from './cluster-view.ts'
import { playbookBlocker } from './drain-phases.ts'
import { appendNotice } from './notices.ts'
import { beginResuming, namesOfDown } from './resume-phase.ts'
import { elapsedSeconds, hostsOf, isOverdue, nodesOf, type Rollout, setNodes, setPhase, setWaitsFor } from './rollout.ts'

const GOOD: readonly HostResult[] = ['OK', 'CHANGED', 'SKIPPED']

/** RUNNING: takes over the results of the batch's run when it has ended. */
export async function finishPlaybook(tx: Tx, ctx: Ctx, rollout: Rollout, batch: JobRunBatch): Promise<boolean> {
  const { run, options } = rollout
  const [child] = batch.childRunId ? await tx.select().from(jobRuns).where(eq(jobRuns.id, batch.childRunId)).for('update') : []
  const members = nodesOf(rollout, batch)
  if (child && !child.finishedAt) {
    const { cancelRequestedById, cancelRequestedByName } = run
    if (child.cancelRequestedAt) return false
    if (run.cancelRequestedAt) {
      await requestCancel(tx, ctx, child, { cancelRequestedById, cancelRequestedByName })
      return true
    }
    const blocker = child.startedAt === null ? await queuedPlaybookBlocker(tx, ctx, rollout, batch) : null
    if (!blocker) return false
    await requestCancel(tx, ctx, child, { cancelRequestedById: null, cancelRequestedByName: `the run ${run.number}` })
    await setPhase(tx, batch, { phase: 'RUNNING', phaseSince: batch.phaseSince, ...blocker })
    return true
  }
  await tx.execute(sql`
    update ${jobRunHosts} p set ok = c.ok, changed = c.changed, failed = c.failed, unreachable = c.unreachable, skipped = c.skipped,
      rescued = c.rescued, ignored = c.ignored, result = c.result, current_task = c.current_task, message = c.message
    from ${jobRunHosts} c where p.job_run_id = ${run.id} and c.job_run_id = ${batch.childRunId} and c.name = p.name`)
  const hosts = child ? await tx.select().from(jobRunHosts).where(eq(jobRunHosts.jobRunId, child.id)) : []
  const byName = new Map(hosts.map((host) => [host.name, host]))
  const resultOf = ({ host }: { host: string }): HostResult => byName.get(host)?.result ?? 'NOT_RUN'
  const notGood = members.filter((node) => !GOOD.includes(resultOf(node)))
  // What a lost worker did last is not known.
  const isKnown = child !== undefined && child.endCause !== 'lost' && child.retriedAt === null
  for (const node of notGood) {
    const isNotRun = resultOf(node) === 'NOT_RUN'
    // The playbook did not reach it, so it is as before.
    const isUntouched = isNotRun && isKnown
    const changes = isUntouched
      ? { outcome: 'SKIPPED' as const, message: 'The playbook did not run on it.' }
      : {
          outcome: 'FAILED' as const,
          message: isNotRun
            ? 'The playbook may have run on it: its worker was lost, or its run was deleted.'
            : 'The playbook did not succeed on it.',
        }
    await setNodes(tx, [node], changes)
    Object.assign(node, changes)
  }
  const ended = child ? `The run ${child.number} ended with ${child.status}.` : 'The run of the batch was deleted.'
  const error = batch.error ?? (child?.status === 'SUCCEEDED' ? null : ended)
  await appendNotice(tx, ctx, run.id, `Batch ${batch.number}: ${ended}`)
  if (notGood.length === members.length)
    return beginResuming(tx, ctx, rollout, batch, { error: error ?? ended, isTimedOut: batch.isTimedOut })
  await setPhase(tx, batch, { phase: 'VERIFYING', error })
  await requestRefresh(tx, ctx, options.clusterId)
  return true
}

/** A free worker begins a playbook within it, also when the jobs took the whole deadline. */
const START_SECONDS = 60

/** Why the playbook must not begin although it was queued: its nodes are no longer drained and free, or it waited too long. */
async function queuedPlaybookBlocker(
  tx: Tx,
  ctx: Ctx,
  rollout: Rollout,
  batch: JobRunBatch,
): Promise<Pick<JobRunBatch, 'error' | 'isTimedOut'> | null> {
  const { options } = rollout
  if (
    elapsedSeconds(rollout, batch.createdAt) > options.deadlineSeconds &&
    elapsedSeconds(rollout, batch.phaseSince) > START_SECONDS
  ) {
    const error = `The deadline of ${options.deadlineSeconds} s passed before a worker began its playbook.`
    return { error, isTimedOut: true }
  }
  const view = await readClusterView(tx, ctx, options.clusterId)
  if (!view || view.readAt === null) return null
  const unfit = nodesOf(rollout, batch).filter(({ name }) => {
    const node = view.nodes.get(name)
    return !node || !isDrained(node) || isBusy(node)
  })
  if (unfit.length === 0) {
    const error = playbookBlocker(rollout, view, nodesOf(rollout, batch))
    return error === null ? null : { error, isTimedOut: false }
  }
  return { error: `${hostsOf(unfit)}: no longer drained and free before the playbook began.`, isTimedOut: false }
}

/** VERIFYING: waits until the nodes with a good result are registered and healthy. */
export async function verifyNodes(tx: Tx, ctx: Ctx, rollout: Rollout, batch: JobRunBatch): Promise<boolean> {
  const { run, options } = rollout
  const members = nodesOf(rollout, batch).filter(({ outcome }) => outcome === null)
  const view = await readClusterView(tx, ctx, options.clusterId)
  const isCurrent = view !== null && view.readAt !== null && view.readAt >= batch.phaseSince.getTime()
  const isLate = isOverdue(elapsedSeconds(rollout, batch.phaseSince), options.healthSeconds, isCurrent)
  const [child] = batch.childRunId ? await tx.select().from(jobRuns).where(eq(jobRuns.id, batch.childRunId)) : []
  const startedAt = child?.startedAt?.getTime() ?? batch.createdAt.getTime()
  const wasDown = await namesOfDown(tx, batch)
  const problemOf = ({ name, drainReason }: (typeof members)[number]): string | null => {
    if (!isCurrent) return `The cluster ${options.clusterName} could not be read after the playbook.`
    const node = view.nodes.get(name)
    return node
      ? healthProblem(node, wasDown.has(name) ? null : drainReason, startedAt)
      : `The cluster ${options.clusterName} no longer has it.`
  }
  const sick = members.flatMap((node) => {
    const problem = problemOf(node)
    return problem === null ? [] : [{ node, problem }]
  })
  if (sick.length > 0 && !isLate) {
    const first = isCurrent ? sick[0]!.problem.replace(/\.$/, '') : 'a refresh of the cluster'
    await setWaitsFor(tx, ctx, rollout, `healthy nodes: ${hostsOf(sick.map(({ node }) => node))} (${first})`)
    return false
  }
  for (const { node, problem } of sick) {
    const message = `Health check after the playbook: ${problem}`
    await setNodes(tx, [node], { outcome: 'FAILED', message })
    node.outcome = 'FAILED'
    await tx
      .update(jobRunHosts)
      .set({ result: 'FAILED', message })
      .where(sql`${jobRunHosts.jobRunId} = ${run.id} and ${isOneOf(jobRunHosts.name, [node.host], 'text')}`)
  }
  const [first] = sick
  const error = first ? `${hostsOf(sick.map(({ node }) => node))}: not healthy after the playbook. ${first.problem}` : batch.error
  return beginResuming(tx, ctx, rollout, batch, { error })
}
