import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { isOneOf, notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, InvalidInput, parseInput } from '../kernel/errors.ts'
import { Id, Ids } from '../kernel/input.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { computeNodes } from '../nodes/tables.ts'
import { nodeGroupAudit } from './audit-actions.ts'
import { assertNotOwnGrant } from './authorize-nodes.ts'
import { exclusiveSetConflict, inSetAlready } from './exclusive-sets.ts'
import { managedClusterOf } from './managed-cluster.ts'
import { groupPermissions } from './permissions.ts'
import { setMembersBlockedReason } from './policy.ts'
import { type NodeGroup, nodeGroupMembers, nodeGroups } from './tables.ts'

export const SetNodeGroupMembersInput = z.object({ id: Id, addNodeIds: Ids.nullish(), removeNodeIds: Ids.nullish() })

/**
 * Adds nodes to a group and removes others. Adding a member, or removing a node that is not one, has no effect.
 * @throws NotFound no such group
 * @throws InvalidInput at addNodeIds for nodes that do not exist, or are in another group of its exclusive set
 * @throws Conflict the group has a query or is that of a managed cluster, or a concurrent call added a node to another group of the set
 */
export async function setNodeGroupMembers(ctx: Ctx, input: z.input<typeof SetNodeGroupMembersInput>): Promise<NodeGroup> {
  authorize(ctx, groupPermissions.write)
  const { id, addNodeIds: add, removeNodeIds: remove } = parseInput(SetNodeGroupMembersInput, input)
  const removed = new Set(remove)
  const both = (add ?? []).find((node) => removed.has(node))
  if (both) throw new InvalidInput([{ path: 'removeNodeIds', message: `the node ${both} is also in addNodeIds` }])
  const work = inTransaction(ctx, async (tx, ctx) => {
    const [group] = await tx
      .update(nodeGroups)
      .set({ updatedAt: sql`now()` })
      .where(and(visibleTo(ctx, nodeGroups), eq(nodeGroups.id, id)))
      .returning()
    if (!group) throw await notFoundOrConflict(tx, ctx, nodeGroups, id, 'group', () => null)
    const blockedReason = setMembersBlockedReason(ctx.actor, group, await managedClusterOf(tx, ctx, id))
    if (blockedReason) throw new Conflict(blockedReason)
    await assertNotOwnGrant(tx, ctx, [id])
    const nodeIds = { nodeId: nodeGroupMembers.nodeId }
    const removedRows =
      remove && remove.length > 0
        ? await tx
            .delete(nodeGroupMembers)
            .where(and(eq(nodeGroupMembers.groupId, id), isOneOf(nodeGroupMembers.nodeId, remove)))
            .returning(nodeIds)
        : []
    let addedRows: typeof removedRows = []
    if (add && add.length > 0) {
      const nodes = await tx
        .select({ id: computeNodes.id })
        .from(computeNodes)
        .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, add)))
        .for('key share')
      const known = new Set(nodes.map((node) => node.id))
      const others = new Map((await inSetAlready(tx, ctx, group, add)).map((each) => [each.nodeId, each]))
      const issues = add.flatMap((node, i) => {
        const other = others.get(node)
        if (!known.has(node)) return [{ path: `addNodeIds.${i}`, message: `there is no node ${node}` }]
        if (!other) return []
        const message = `${other.node} is in ${other.group}, which is in the exclusive set ${group.exclusiveSet} too; remove it from that group first`
        return [{ path: `addNodeIds.${i}`, message }]
      })
      if (issues.length > 0) throw new InvalidInput(issues)
      addedRows = await tx
        .insert(nodeGroupMembers)
        // Insert in one order, so that concurrent calls wait for each other instead of deadlocking.
        .values([...add].sort().map((nodeId) => ({ groupId: id, nodeId, exclusiveSet: group.exclusiveSet })))
        .onConflictDoNothing({ target: [nodeGroupMembers.groupId, nodeGroupMembers.nodeId] })
        .returning(nodeIds)
    }
    const members = (rows: typeof addedRows) => (rows.length > 0 ? { members: rows.map(({ nodeId }) => nodeId) } : {})
    const change = { before: members(removedRows), after: members(addedRows) }
    await audit(tx, ctx, nodeGroupAudit.setMembers, group, { added: add ?? [], removed: remove ?? [] }, { change })
    for (const nodeId of [...(add ?? []), ...(remove ?? [])]) ctx.notify(nodeChanged({ id: nodeId, tenantId: ctx.tenantId }))
    return group
  })
  return work.catch((error: unknown) => {
    throw exclusiveSetConflict(error) ?? error
  })
}
