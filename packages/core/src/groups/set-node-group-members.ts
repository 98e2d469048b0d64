import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { isOneOf, visibleTo, whyNoRow } from '../db/rows.ts'
import { InvalidInput, parseInput } from '../errors.ts'
import { Id, Ids } from '../input.ts'
import { computeNodes } from '../nodes/tables.ts'
import { type NodeGroup, nodeGroupMembers, nodeGroups } from './tables.ts'

export const SetNodeGroupMembersInput = z.object({ id: Id, add: Ids.nullish(), remove: Ids.nullish() })

/**
 * Put nodes into a group and take others out. Adding a member, or removing none, changes nothing.
 * @throws NotFound no such group; InvalidInput at add for nodes that do not exist
 */
export async function setNodeGroupMembers(ctx: Ctx, input: z.input<typeof SetNodeGroupMembersInput>): Promise<NodeGroup> {
  authorize(ctx, 'group:write')
  const { id, add, remove } = parseInput(SetNodeGroupMembersInput, input)
  const removed = new Set(remove)
  const both = (add ?? []).find((node) => removed.has(node))
  if (both) throw new InvalidInput([{ path: 'remove', message: `the node ${both} stands in add too` }])
  return inTransaction(ctx, async (tx, afterwards) => {
    const [group] = await tx
      .update(nodeGroups)
      .set({ updatedAt: new Date() })
      .where(and(visibleTo(ctx, nodeGroups), eq(nodeGroups.id, id)))
      .returning()
    if (!group) throw await whyNoRow(tx, ctx, nodeGroups, id, 'group', () => null)
    if (add && add.length > 0) {
      const nodes = await tx
        .select({ id: computeNodes.id })
        .from(computeNodes)
        .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, add)))
        .for('key share')
      const known = new Set(nodes.map((node) => node.id))
      const issues = add.flatMap((node, i) =>
        known.has(node) ? [] : [{ path: `add.${i}`, message: `There is no node ${node}.` }],
      )
      if (issues.length > 0) throw new InvalidInput(issues)
      await tx
        .insert(nodeGroupMembers)
        .values(add.map((nodeId) => ({ groupId: id, nodeId, exclusiveSet: group.exclusiveSet })))
        .onConflictDoNothing()
    }
    if (remove && remove.length > 0)
      await tx.delete(nodeGroupMembers).where(and(eq(nodeGroupMembers.groupId, id), isOneOf(nodeGroupMembers.nodeId, remove)))
    await audit(tx, ctx, 'node_group.set_members', group, { added: add ?? [], removed: remove ?? [] })
    for (const nodeId of [...(add ?? []), ...(remove ?? [])]) afterwards({ topic: 'node', id: nodeId, tenantId: ctx.tenantId })
    return group
  })
}
