import { foldHostlist } from '@muster/slurm'
import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { slurmClusterChanged } from '../clusters/change-events.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { NotFound, parseInput } from '../kernel/errors.ts'
import { Id, singleLineText } from '../kernel/input.ts'
import { insertPowerRun, type PowerAction, powerRunItems, powerRuns, protectionsOf } from '../power/index.ts'
import { expandHostlist } from '../selection/index.ts'
import { lockCluster, slurmOperations } from '../slurm-operations/index.ts'
import { slurmPowerAudit } from './audit-actions.ts'
import { isStillOn, lastRequests } from './last-requests.ts'
import { type MemberNode, memberNodes } from './member-nodes.ts'
import { slurmPowerPermissions } from './permissions.ts'
import { findPowerSaving } from './plan-power-saving.ts'
import { SLURM_POWER_VERBS, type SlurmPowerVerb, slurmPowerRequests } from './tables.ts'

const MAX_NODES = 10_000
/** slurmctld staggers the nodes itself: SuspendRate and ResumeRate are at least 1. */
const PARALLELISM = 50

export const RequestSlurmPowerInput = z.object({
  clusterId: Id,
  verb: z.enum(SLURM_POWER_VERBS),
  /** NodeNames, as slurmctld passes them to its programs. */
  hostlist: singleLineText(1_000_000),
})

type Refusal = { name: string; reason: string }
export type SlurmPowerAnswer = {
  /** Hostlist of nodes with a command of this request, or of an earlier one. */
  accepted: string
  /** Nodes for which the same request may succeed later. */
  waiting: Refusal[]
  /** Nodes that the controllers may not power. */
  refused: Refusal[]
}

/**
 * Starts power runs for the nodes that slurmctld of a cluster suspends or resumes. Safe to repeat: a node with an unfinished command of the
 * same request gets no other one. slurmctld suspends only nodes that it knows as idle, so the jobs that Muster last read of this cluster
 * protect no node. Locks of runs do: their nodes wait.
 * @throws NotFound power saving is off; InvalidInput
 */
export async function requestSlurmPower(ctx: Ctx, input: z.input<typeof RequestSlurmPowerInput>): Promise<SlurmPowerAnswer> {
  authorize(ctx, slurmPowerPermissions.request)
  const { clusterId, verb, hostlist } = parseInput(RequestSlurmPowerInput, input)
  const names = expandHostlist(hostlist, { max: MAX_NODES })
  return inTransaction(ctx, async (tx, ctx) => {
    // Concurrent requests of two controllers must not both start a run.
    const cluster = await lockCluster(tx, ctx, clusterId)
    if (!(await findPowerSaving(tx, ctx, clusterId))) throw new NotFound(`Power saving of the cluster ${cluster.name} is off.`)
    const members = await memberNodes(tx, ctx, cluster, names)
    const nodes = new Map([...members].flatMap(([name, node]) => (typeof node === 'string' ? [] : [[name, node]])))
    const refused = [...members].flatMap(([name, reason]) => (typeof reason === 'string' ? [{ name, reason }] : []))
    const ids = [...nodes.values()].map(({ id }) => id)
    const before = await lastRequests(tx, ctx, clusterId, [...nodes.keys()])
    const active = await unfinishedRuns(tx, ctx, ids)
    const locked = await protectionsOf(tx, ctx, ids, clusterId)
    const isEnding = verb === 'SUSPEND' && (await isBeingTurnedOff(tx, ctx, clusterId))
    const waiting: Refusal[] = []
    const accepted: string[] = []
    const started = new Map<PowerAction, { name: string; node: MemberNode }[]>()
    for (const [name, node] of nodes) {
      const last = before.get(name)
      const run = active.get(node.id)
      const action = verb === 'SUSPEND' ? 'OFF' : last && isStillOn(last) ? 'CYCLE' : 'ON'
      const lock = action === 'ON' ? undefined : locked.get(node.id)
      const isSame = last?.request.verb === verb && last.request.refusedReason === null
      if (run && isSame && last.request.powerRunId === run.id) accepted.push(name)
      else if (run) waiting.push({ name, reason: `The power run ${run.action} of ${run.createdByName} has not ended.` })
      else if (isEnding) waiting.push({ name, reason: `Power saving of the cluster ${cluster.name} is being turned off.` })
      else if (lock) waiting.push({ name, reason: `The node ${node.name} is protected: ${lock}.` })
      else {
        accepted.push(name)
        started.set(action, [...(started.get(action) ?? []), { name, node }])
      }
    }
    const reason = `${verb === 'SUSPEND' ? 'Suspended' : 'Resumed'} by slurmctld of ${cluster.name}`
    const store = (list: Recorded['list']) => recordRequests(tx, ctx, { clusterId, verb, list })
    for (const [action, list] of started) {
      const columns = { action, bootDevice: null, isForced: false, parallelism: PARALLELISM, delaySeconds: 0, reason }
      const run = await insertPowerRun(tx, ctx, { ...columns, slurmClusterId: clusterId, nodes: list.map(({ node }) => node) })
      await store(list.map((each) => ({ ...each, powerRunId: run.id, refusedReason: null })))
    }
    // A program repeats its request while nodes wait: only what is new is recorded.
    const news = waiting.filter(({ name }) => {
      const last = before.get(name)?.request
      return last?.verb !== verb || last.refusedReason === null
    })
    await store(
      news.map(({ name, reason }) => {
        // A resume that waits keeps the run of the suspend: it decides later how the node boots.
        const powerRunId = verb === 'RESUME' ? (before.get(name)?.request.powerRunId ?? null) : null
        return { name, node: nodes.get(name)!, powerRunId, refusedReason: reason }
      }),
    )
    if (started.size > 0 || news.length > 0 || refused.length > 0) {
      const details = { verb, accepted: foldHostlist(accepted), waiting, refused: refused.slice(0, 100) }
      await audit(tx, ctx, slurmPowerAudit.request, cluster, details, { reason })
      ctx.notify(slurmClusterChanged(cluster))
    }
    return { accepted: foldHostlist(accepted), waiting, refused }
  })
}

/** Then suspended nodes are powered on: a program that still repeats its request must not power them off again. */
async function isBeingTurnedOff(tx: Tx, ctx: Ctx, clusterId: string): Promise<boolean> {
  const found = await tx
    .select({ id: slurmOperations.id })
    .from(slurmOperations)
    .where(
      and(
        visibleTo(ctx, slurmOperations),
        eq(slurmOperations.clusterId, clusterId),
        eq(slurmOperations.kind, 'POWER_SAVING'),
        isNull(slurmOperations.finishedAt),
        sql`${slurmOperations.input}->>'isOn' = 'false'`,
      ),
    )
  return found.length > 0
}

/** Power runs that have no result for a node yet, by node ID. */
async function unfinishedRuns(tx: Tx, ctx: Ctx, nodeIds: string[]) {
  if (nodeIds.length === 0) return new Map()
  const rows = await tx
    .select({ nodeId: powerRunItems.nodeId, id: powerRuns.id, action: powerRuns.action, createdByName: powerRuns.createdByName })
    .from(powerRunItems)
    .innerJoin(powerRuns, eq(powerRuns.id, powerRunItems.runId))
    .where(
      and(
        visibleTo(ctx, powerRuns),
        inArray(powerRunItems.nodeId, nodeIds),
        isNull(powerRunItems.result),
        isNull(powerRuns.finishedAt),
      ),
    )
  return new Map(rows.map((row) => [row.nodeId!, row]))
}

type Recorded = {
  clusterId: string
  verb: SlurmPowerVerb
  list: { name: string; node: MemberNode; powerRunId: string | null; refusedReason: string | null }[]
}

async function recordRequests(tx: Tx, { tenantId }: Ctx, { list, ...columns }: Recorded): Promise<void> {
  if (list.length === 0) return
  await tx
    .insert(slurmPowerRequests)
    .values(list.map(({ node, ...row }) => ({ ...columns, ...row, tenantId, nodeId: node.id })))
    .onConflictDoUpdate({
      target: [slurmPowerRequests.clusterId, slurmPowerRequests.name],
      set: Object.fromEntries(
        ['node_id', 'verb', 'requested_at', 'power_run_id', 'refused_reason'].map((column) => [
          column.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase()),
          sql.raw(`excluded.${column}`),
        ]),
      ),
    })
}
