import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { nameTaken, notFoundOrConflict, sqlState, UNIQUE_VIOLATION, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, InvalidInput, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { nodeGroupAudit } from './audit-actions.ts'
import { assertNotOwnGrant } from './authorize-nodes.ts'
import { exclusiveSetConflict, inSetAlready } from './exclusive-sets.ts'
import { GROUP_FIELDS } from './fields.ts'
import { assertNoManagedGroup } from './managed-cluster.ts'
import { groupPermissions } from './permissions.ts'
import { checkPlace, lockGroupTree } from './place.ts'
import { renameBlockedReason } from './policy.ts'
import { type NodeGroup, nodeGroupMembers, nodeGroups } from './tables.ts'

export const UpdateNodeGroupInput = z.object({ ...GROUP_FIELDS, id: Id, name: GROUP_FIELDS.name.optional() })

/**
 * Changes the given fields; null clears the display name, parent, query or set, and resets kind and priority.
 * @throws InvalidInput also when members keep it from getting a query or from joining a set
 * @throws NotFound
 * @throws Conflict the name is taken, the group is a system group, or a managed cluster's group would get other members
 */
export async function updateNodeGroup(ctx: Ctx, input: z.input<typeof UpdateNodeGroupInput>): Promise<NodeGroup> {
  authorize(ctx, groupPermissions.write)
  const { id, ...given } = parseInput(UpdateNodeGroupInput, input)
  if (given.isSystem !== undefined) authorize(ctx, groupPermissions.setSystem)
  const scope = and(visibleTo(ctx, nodeGroups), eq(nodeGroups.id, id))
  const work = inTransaction(ctx, async (tx) => {
    const tree = await lockGroupTree(tx, ctx)
    const [before] = await tx.select().from(nodeGroups).where(scope).for('no key update')
    if (!before) throw await notFoundOrConflict(tx, ctx, nodeGroups, id, 'group', () => null)
    const blockedReason = given.name === undefined || given.name === before.name ? null : renameBlockedReason(ctx.actor, before)
    if (blockedReason) throw new Conflict(blockedReason)
    const after = { ...before, ...changesOf(given) }
    checkPlace(tree, id, after)
    const parent = after.parentId === before.parentId ? undefined : tree.byId.get(after.parentId ?? '')
    await assertNoManagedGroup(tx, ctx, [
      ...(parent ? tree.upwards(parent) : []),
      ...(after.memberQuery === before.memberQuery ? [] : tree.upwards(before)),
    ])
    if (after.parentId !== before.parentId || after.memberQuery !== before.memberQuery)
      await assertNotOwnGrant(tx, ctx, [id, before.parentId, after.parentId])
    await checkMembers(tx, ctx, after)
    const [group] = await tx
      .update(nodeGroups)
      .set({ ...changesOf(given), updatedAt: sql`now()` })
      .where(scope)
      .returning()
    const changed = (Object.keys(after) as (keyof NodeGroup)[]).filter((field) => before[field] !== after[field]).sort()
    const was = Object.fromEntries(changed.map((field) => [field, before[field]]))
    await audit(tx, ctx, nodeGroupAudit.update, group!, { changed, was })
    return group!
  })
  return work.catch((error: unknown) => {
    const taken = exclusiveSetConflict(error)
    if (taken) throw taken
    if (sqlState(error) === UNIQUE_VIOLATION) throw nameTaken('group', given.name)
    throw error
  })
}

function changesOf(given: Omit<z.output<typeof UpdateNodeGroupInput>, 'id'>): Partial<NodeGroup> {
  const empty = { description: '', kind: 'AD_HOC', priority: 100, exclusiveSet: '', isSystem: false }
  const changed = Object.entries(given).filter(([, value]) => value !== undefined)
  return Object.fromEntries(changed.map(([field, value]) => [field, value ?? empty[field as keyof typeof empty] ?? null]))
}

/** Explicit members exclude a query, and members exclude a set in which another group has them. */
async function checkMembers(tx: Tx, ctx: Ctx, group: NodeGroup): Promise<void> {
  if (group.memberQuery === null && !group.exclusiveSet) return
  const rows = await tx
    .select({ id: nodeGroupMembers.nodeId })
    .from(nodeGroupMembers)
    .where(eq(nodeGroupMembers.groupId, group.id))
  if (group.memberQuery !== null && rows.length > 0) {
    const message = `the group has ${rows.length} explicit members; remove them first`
    throw new InvalidInput([{ path: 'memberQuery', message }])
  }
  const taken = await inSetAlready(
    tx,
    ctx,
    group,
    rows.map((row) => row.id),
  )
  if (taken.length > 0) {
    const named = taken.slice(0, 5).map((each) => `${each.node} in ${each.group}`)
    const message = `${taken.length} of its nodes are in other groups of the exclusive set ${group.exclusiveSet}: ${named.join(', ')}`
    throw new InvalidInput([{ path: 'exclusiveSet', message }])
  }
}
