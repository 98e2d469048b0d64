import { eq } from 'drizzle-orm'
import { slurmClusters } from '../../clusters/index.ts'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { newId } from '../../kernel/db/columns.ts'
import { insertSlurmAction } from '../../slurm-actions/index.ts'
import type { SlurmActionItem } from '../../slurm-actions/tables.ts'
import type { JobRunBatch, JobRunSlurmNode } from '../tables.ts'
import { appendNotice } from './notices.ts'
import { elapsedSeconds, hostsOf, nodesOf, type Rollout, readAction, setNodes, setPhase, setWaitsFor } from './rollout.ts'

/** How long and how often the resume is tried again while the controller does not answer. */
const RETRY_SECONDS = 600
const RETRY_EVERY_SECONDS = 30

/**
 * Begins to resume the nodes that Muster has drained: those with a good result, and those on which nothing ran. Failed ones stay drained.
 * @param end why the batch failed; null when it did not
 */
export async function beginResuming(
  tx: Tx,
  ctx: Ctx,
  rollout: Rollout,
  batch: JobRunBatch,
  { error, isTimedOut = false }: { error: string | null; isTimedOut?: boolean },
): Promise<true> {
  const resumeActionIds = await startActions(tx, ctx, rollout, batch)
  await setWaitsFor(tx, ctx, rollout, null)
  await setPhase(tx, batch, { phase: 'RESUMING', error, isTimedOut, resumeActionIds })
  if (error) await appendNotice(tx, ctx, rollout.run.id, `Batch ${batch.number} failed. ${error}`)
  return true
}

/** Names of the batch's nodes that were DOWN when Muster drained them. */
export async function namesOfDown(tx: Tx, { drainActionId }: JobRunBatch): Promise<Set<string>> {
  const action = drainActionId ? await readAction(tx, drainActionId) : null
  return new Set(action?.items.filter(({ before }) => before?.startsWith('DOWN')).map(({ target }) => target))
}

/**
 * One action per verb and reason: a node with another reason was drained by somebody else in the meantime, and stays so. Only nodes with a
 * good playbook and health check are resumed. Of the others the drain ends: what Slurm has set DOWN stays so.
 */
async function startActions(tx: Tx, ctx: Ctx, rollout: Rollout, batch: JobRunBatch): Promise<string[]> {
  const { run, options } = rollout
  const nodes = nodesOf(rollout, batch).filter(({ isDrained, outcome }) => isDrained && outcome !== 'FAILED')
  const [cluster] = await tx.select({ id: slurmClusters.id }).from(slurmClusters).where(eq(slurmClusters.id, options.clusterId))
  if (!cluster) return []
  const wasDown = await namesOfDown(tx, batch)
  const verbOf = ({ name, outcome }: JobRunSlurmNode) =>
    batch.childRunId !== null && outcome === null && !wasDown.has(name) ? 'RESUME_NODES' : 'UNDRAIN_NODES'
  const ids: string[] = []
  for (const some of Map.groupBy(nodes, (node) => `${verbOf(node)} ${node.drainReason}`).values()) {
    const id = newId()
    const [first] = some
    ids.push(id)
    await insertSlurmAction(tx, ctx, {
      id,
      cluster: { id: options.clusterId, name: options.clusterName },
      action: { verb: verbOf(first!), onlyReason: first!.drainReason! },
      reason: `run ${run.number}: end of batch ${batch.number}`,
      targets: some.map(({ name }) => name),
      createdBy: { createdById: run.createdById, createdByName: run.createdByName },
    })
  }
  return ids
}

/** RESUMING: ends the batch when its nodes are resumed. */
export async function finishResuming(tx: Tx, ctx: Ctx, rollout: Rollout, batch: JobRunBatch): Promise<boolean> {
  const { options } = rollout
  const members = nodesOf(rollout, batch)
  const actions = await Promise.all(batch.resumeActionIds.map((id) => readAction(tx, id)))
  if (actions.some((action) => action && !action.row.finishedAt)) return false
  const items = new Map(actions.flatMap((action) => action?.items ?? []).map((item) => [item.target, item]))
  const gone: JobRunSlurmNode[] = []
  for (const node of members) {
    const { result, after } = items.get(node.name) ?? { result: null, after: null }
    if (result !== 'DONE' && result !== 'UNCHANGED' && result !== 'NOT_FOUND') continue
    const isOther = result === 'UNCHANGED' && /\+DRAIN\b/.test(after ?? '')
    const changes: Partial<JobRunSlurmNode> = { isDrained: false }
    if (isOther) changes.message = `Left as it is, because its reason changed: ${after}`
    if (result === 'NOT_FOUND') {
      gone.push(node)
      Object.assign(changes, {
        outcome: node.outcome ?? 'FAILED',
        message: `The cluster ${options.clusterName} no longer has it.`,
      })
    }
    await setNodes(tx, [node], changes)
    Object.assign(node, changes)
  }
  const left = members.filter(({ isDrained, outcome }) => isDrained && outcome !== 'FAILED')
  if (left.length > 0 && elapsedSeconds(rollout, batch.phaseSince) < RETRY_SECONDS) {
    const last = Math.max(...actions.map((action) => action?.row.finishedAt?.getTime() ?? 0))
    if (rollout.now - last < RETRY_EVERY_SECONDS * 1000) return false
    const resumeActionIds = await startActions(tx, ctx, rollout, batch)
    await setPhase(tx, batch, { phase: 'RESUMING', resumeActionIds, phaseSince: batch.phaseSince })
    return false
  }
  const problem = problemOf(left, gone, items)
  const error = [batch.error, problem].filter(Boolean).join(' ') || null
  const good = members.filter(({ outcome, isDrained }) => batch.childRunId !== null && outcome === null && !isDrained)
  await setNodes(tx, good, { outcome: 'OK' })
  // The next batch needs data from after the end of the last command.
  const finishedAt = new Date(
    Math.max(batch.phaseSince.getTime(), ...actions.map((action) => action?.row.finishedAt?.getTime() ?? 0)),
  )
  await setPhase(tx, batch, { phase: error ? 'FAILED' : 'DONE', error, finishedAt })
  const text = error ? `failed. ${problem ?? ''}`.trim() : `done, ${hostsOf(members)} in service.`
  if (!batch.error || problem) await appendNotice(tx, ctx, rollout.run.id, `Batch ${batch.number}: ${text}`)
  return true
}

function problemOf(
  [left]: readonly JobRunSlurmNode[],
  gone: readonly JobRunSlurmNode[],
  items: ReadonlyMap<string, SlurmActionItem>,
): string | null {
  if (left) {
    const item = items.get(left.name)
    return `The node ${left.name} was not resumed. ${item?.message ?? `Result: ${item?.result ?? 'unknown'}.`}`
  }
  return gone.length > 0 ? `${hostsOf(gone)}: removed from the cluster during the run.` : null
}
