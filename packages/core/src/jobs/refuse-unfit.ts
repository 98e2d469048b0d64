import type { Ctx, Tx } from '../context.ts'
import { whyNotPassBastions } from '../credentials/index.ts'
import type { Db } from '../db/client.ts'
import { InvalidInput } from '../errors.ts'
import { foldHostlist, type LeanNode } from '../nodes/index.ts'
import { whyNotTarget } from './policy.ts'

/** Why playbooks cannot be run on some of these nodes: each reason, as a sentence about nodes without their names, with the nodes. */
export async function unfitNodes(ctx: Ctx, db: Db | Tx, nodes: LeanNode[]): Promise<Map<string, LeanNode[]>> {
  const bastions = await whyNotPassBastions(ctx, db, [...new Set(nodes.flatMap((node) => node.bastionId ?? []))])
  const reasons = Map.groupBy(nodes, (node) => whyNotTarget(node) ?? whyNotByWay(node, bastions))
  reasons.delete(null)
  return reasons as Map<string, LeanNode[]>
}

function whyNotByWay(node: LeanNode, bastions: Map<string, string>): string | null {
  const reason = node.connectionType === 'ssh' && node.bastionId ? bastions.get(node.bastionId) : undefined
  return reason ? `cannot be reached. ${reason}` : null
}

/** @throws InvalidInput when there is no node to run on */
export function refuseNobody(nodes: LeanNode[], path: 'nodeIds' | 'limit'): void {
  if (nodes.length === 0) throw new InvalidInput([{ path, message: 'no node matches' }])
}

/** @throws InvalidInput with one issue per reason, the nodes it holds for folded to a hostlist */
export async function refuseUnfit(ctx: Ctx, db: Db | Tx, nodes: LeanNode[], path: 'nodeIds' | 'limit'): Promise<void> {
  refuseNobody(nodes, path)
  const unfit = await unfitNodes(ctx, db, nodes)
  if (unfit.size > 0)
    throw new InvalidInput(
      [...unfit].map(([reason, some]) => ({ path, message: `${foldHostlist(some.map((n) => n.name))} ${reason}` })),
    )
}
