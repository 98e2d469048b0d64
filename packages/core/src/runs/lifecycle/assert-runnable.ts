import { unapprovedBastionReasons } from '../../credentials/index.ts'
import type { Ctx, Tx } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/client.ts'
import { InvalidInput } from '../../kernel/errors.ts'
import type { LeanNode } from '../../nodes/tables.ts'
import { foldHostlist } from '../../selection/index.ts'
import { nodeBlockedReason } from '../policy.ts'
import { agentsOfNodes, drainBlockedReason, skipReason } from './agent-blockers.ts'

/** The properties of a run that decide on which nodes it may run. */
type Run = {
  isReadOnly: boolean
  includeOffline: boolean
  /** It waits for the jobs of Slurm nodes itself. */
  drainsItself: boolean
  /** Nobody waits for its start, so that nodes which block it are left out as long as others remain. */
  leavesOutBlocked?: boolean
}
export type SkippedNode = { node: LeanNode; reason: string }
type SortedNodes = {
  nodes: LeanNode[]
  skipped: SkippedNode[]
  /** Nodes for which the run is rejected, by reason. */
  blocked: Map<string, LeanNode[]>
}

/** The reason of a run that would skip all its nodes. */
const ALL_OFFLINE = 'the agent is OFFLINE, and runs skip such nodes; repair the nodes, or include them in the run'

/**
 * Returns the reasons why playbooks cannot run on some of these nodes, with the nodes of each. A reason is a phrase that fits one
 * node and several.
 */
export async function blockedNodes(ctx: Ctx, db: Db | Tx, nodes: LeanNode[]): Promise<Map<string, LeanNode[]>> {
  return groupByReason(nodes, await nodeReasons(ctx, db, nodes))
}

/**
 * Splits the nodes of a run into those on which it runs, those that it skips because their agents are OFFLINE, and those that block
 * it. Runs of workers continue operations: they skip no node, and no drain blocks them.
 */
export async function sortNodes(ctx: Ctx, db: Db | Tx, all: LeanNode[], run: Run): Promise<SortedNodes> {
  const reasonOf = await nodeReasons(ctx, db, all)
  if (ctx.actor.kind === 'worker') return { nodes: all, skipped: [], blocked: groupByReason(all, reasonOf) }
  const agents = await agentsOfNodes(
    db,
    all.map(({ id }) => id),
  )
  const skipped = all.flatMap((node) => {
    const reason = run.includeOffline ? null : skipReason(agents.get(node.id))
    return reason ? [{ node, reason }] : []
  })
  const skippedIds = new Set(skipped.map(({ node }) => node.id))
  const nodes = all.filter(({ id }) => !skippedIds.has(id))
  const blocked = groupByReason(
    nodes,
    (node) => reasonOf(node) ?? (run.isReadOnly ? null : drainBlockedReason(agents.get(node.id), run.drainsItself)),
  )
  if (nodes.length === 0 && all.length > 0) blocked.set(ALL_OFFLINE, all)
  return { nodes, skipped, blocked }
}

async function nodeReasons(ctx: Ctx, db: Db | Tx, nodes: LeanNode[]): Promise<(node: LeanNode) => string | null> {
  const bastions = await unapprovedBastionReasons(ctx, db, [...new Set(nodes.flatMap((node) => node.bastionId ?? []))])
  return (node) => nodeBlockedReason(node) ?? bastionBlockedReason(node, bastions)
}

function groupByReason(nodes: LeanNode[], reasonOf: (node: LeanNode) => string | null): Map<string, LeanNode[]> {
  const reasons = Map.groupBy(nodes, reasonOf)
  reasons.delete(null)
  return reasons as Map<string, LeanNode[]>
}

function bastionBlockedReason(node: LeanNode, bastions: Map<string, string>): string | null {
  const reason = node.connectionType === 'ssh' && node.bastionId ? bastions.get(node.bastionId) : undefined
  return reason?.replace(/\.$/, '') ?? null
}

/** @throws InvalidInput when there are no nodes to run on */
export function assertNotEmpty(nodes: LeanNode[], path: 'nodeIds' | 'limit'): void {
  if (nodes.length === 0) throw new InvalidInput([{ path, message: 'no node matches' }])
}

/**
 * @returns the nodes of the run, with a text per reason for which nodes are left out
 * @throws InvalidInput with one issue per reason; its nodes are folded to a hostlist
 */
export async function assertRunnable(
  ctx: Ctx,
  tx: Tx,
  all: LeanNode[],
  path: 'nodeIds' | 'limit',
  run: Run,
): Promise<Omit<SortedNodes, 'blocked'> & { leftOut: string[] }> {
  assertNotEmpty(all, path)
  const { blocked, nodes, skipped } = await sortNodes(ctx, tx, all, run)
  const unusable = new Set([...blocked.values()].flat())
  const usable = nodes.filter((node) => !unusable.has(node))
  const reasons = [...blocked].map(([reason, some]) => `${foldHostlist(some.map((n) => n.name))}: ${reason}`)
  if (reasons.length > 0 && !(run.leavesOutBlocked && usable.length > 0))
    throw new InvalidInput(reasons.map((message) => ({ path, message })))
  return { nodes: usable, skipped, leftOut: reasons }
}
