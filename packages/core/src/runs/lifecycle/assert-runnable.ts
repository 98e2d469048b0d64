import { unapprovedBastionReasons } from '../../credentials/index.ts'
import type { Ctx, Tx } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/client.ts'
import { InvalidInput } from '../../kernel/errors.ts'
import type { LeanNode } from '../../nodes/tables.ts'
import { foldHostlist } from '../../selection/index.ts'
import { nodeBlockedReason } from '../policy.ts'

/**
 * Returns the reasons why playbooks cannot run on some of these nodes, with the nodes of each. A reason is a phrase that fits one
 * node and several.
 */
export async function blockedNodes(ctx: Ctx, db: Db | Tx, nodes: LeanNode[]): Promise<Map<string, LeanNode[]>> {
  const bastions = await unapprovedBastionReasons(ctx, db, [...new Set(nodes.flatMap((node) => node.bastionId ?? []))])
  const reasons = Map.groupBy(nodes, (node) => nodeBlockedReason(node) ?? bastionBlockedReason(node, bastions))
  reasons.delete(null)
  return reasons as Map<string, LeanNode[]>
}

function bastionBlockedReason(node: LeanNode, bastions: Map<string, string>): string | null {
  const reason = node.connectionType === 'ssh' && node.bastionId ? bastions.get(node.bastionId) : undefined
  return reason?.replace(/\.$/, '') ?? null
}

/** @throws InvalidInput when there are no nodes */
export function assertNotEmpty(nodes: LeanNode[], path: 'nodeIds' | 'limit'): void {
  if (nodes.length === 0) throw new InvalidInput([{ path, message: 'no node matches' }])
}

/** @throws InvalidInput with one issue per reason; its nodes are folded to a hostlist */
export async function assertRunnable(ctx: Ctx, db: Db | Tx, nodes: LeanNode[], path: 'nodeIds' | 'limit'): Promise<void> {
  assertNotEmpty(nodes, path)
  const unfit = await blockedNodes(ctx, db, nodes)
  if (unfit.size > 0)
    throw new InvalidInput(
      [...unfit].map(([reason, some]) => ({ path, message: `${foldHostlist(some.map((n) => n.name))}: ${reason}` })),
    )
}
