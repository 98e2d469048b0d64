import { and, eq, ne } from 'drizzle-orm'
import type { Ctx, Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { Conflict } from '../kernel/errors.ts'
import { computeNodes } from '../nodes/tables.ts'
import { type NodeGroup, nodeGroupMembers, nodeGroups, ONE_OF_A_SET } from './tables.ts'

/** Returns which of these nodes are in other groups of the exclusive set of `group`, and in which groups. */
export async function inSetAlready(
  tx: Tx,
  ctx: Ctx,
  group: Pick<NodeGroup, 'id' | 'exclusiveSet'>,
  nodeIds: string[],
): Promise<{ nodeId: string; node: string; group: string }[]> {
  if (!group.exclusiveSet || nodeIds.length === 0) return []
  return tx
    .select({ nodeId: computeNodes.id, node: computeNodes.name, group: nodeGroups.name })
    .from(nodeGroupMembers)
    .innerJoin(computeNodes, eq(computeNodes.id, nodeGroupMembers.nodeId))
    .innerJoin(nodeGroups, eq(nodeGroups.id, nodeGroupMembers.groupId))
    .where(
      and(
        visibleTo(ctx, nodeGroups),
        isOneOf(nodeGroupMembers.nodeId, nodeIds),
        eq(nodeGroupMembers.exclusiveSet, group.exclusiveSet),
        ne(nodeGroupMembers.groupId, group.id),
      ),
    )
    .orderBy(computeNodes.name)
}

/** Converts the constraint error of a concurrent insert into a second group of a set; null for other errors. */
export function exclusiveSetConflict(error: unknown): Conflict | null {
  for (let e = error; e instanceof Error; e = e.cause)
    if ('constraint' in e && e.constraint === ONE_OF_A_SET)
      return new Conflict(
        'One of these nodes was added to another group of the exclusive set at the same time. Check its groups and try again.',
      )
  return null
}
