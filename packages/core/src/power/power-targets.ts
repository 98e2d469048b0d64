import { and } from 'drizzle-orm'
import { authorizeNodes } from '../groups/index.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { InvalidInput } from '../kernel/errors.ts'
import type { LeanNode, NodeBmc } from '../nodes/tables.ts'
import { nodeBmcs } from '../nodes/tables.ts'
import { selectNodes } from '../selection/index.ts'
import { MAX_TARGETS, type requestOf } from './input.ts'
import { powerMessages } from './messages.ts'
import { powerActionPermission, powerPermissions } from './permissions.ts'
import { type NodePower, powerStates } from './power-states.ts'
import { isDisruptive, protectionsOf } from './protections.ts'

export type PowerTarget = {
  node: LeanNode
  power: NodePower
  /** Why the action would not be sent to the node; null when it would. */
  blockedReason: string | null
}

/** Why the action cannot reach the node; null when it can. */
export function powerTargetBlockedReason(
  node: Pick<LeanNode, 'name' | 'status'>,
  bmc: Pick<NodeBmc, 'protocol'> | undefined,
): string | null {
  if (node.status === 'DECOMMISSIONED') return powerMessages.decommissioned({ node: node.name })
  if (!bmc) return powerMessages.noBmc({ node: node.name })
  return null
}

/**
 * The nodes of a request with their power states, sorted by name.
 * @throws Forbidden for a node on which the caller lacks the permission; InvalidInput nothing matches; NotFound a node
 */
export async function findPowerTargets(
  tx: Tx | Ctx['db'],
  ctx: Ctx,
  { action, selection, isForced }: ReturnType<typeof requestOf>,
): Promise<PowerTarget[]> {
  const nodes = await selectNodes(ctx, selection, tx as Tx)
  if (nodes.length === 0) throw new InvalidInput([{ path: 'limit', message: 'matches no nodes' }])
  if (nodes.length > MAX_TARGETS) throw new InvalidInput([{ path: 'limit', message: `matches more than ${MAX_TARGETS} nodes` }])
  const ids = nodes.map(({ id }) => id)
  await authorizeNodes(tx, ctx, powerActionPermission(action), ids)
  if (isForced && isDisruptive(action)) await authorizeNodes(tx, ctx, powerPermissions.override, ids)
  const bmcs = await tx
    .select({ nodeId: nodeBmcs.nodeId, protocol: nodeBmcs.protocol })
    .from(nodeBmcs)
    .where(and(visibleTo(ctx, nodeBmcs), isOneOf(nodeBmcs.nodeId, ids)))
  const bmcOf = new Map(bmcs.map((bmc) => [bmc.nodeId, bmc]))
  const states = await powerStates(tx, ctx, ids)
  const protections = isDisruptive(action) && !isForced ? await protectionsOf(tx, ctx, ids) : new Map<string, string>()
  return nodes
    .map((node) => {
      const protection = protections.get(node.id)
      return {
        node,
        power: states.get(node.id) ?? { state: 'UNKNOWN' as const, readAt: null, error: null },
        blockedReason:
          powerTargetBlockedReason(node, bmcOf.get(node.id)) ?? (protection ? protectedReason(node.name, protection) : null),
      }
    })
    .sort((a, b) => (a.node.name < b.node.name ? -1 : 1))
}

/** The refusal of a protected node. */
export const protectedReason = (name: string, protection: string): string =>
  `The node ${name} is protected: ${protection}. Wait for the end, drain it, or force the action with a reason.`
