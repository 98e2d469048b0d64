import { and, eq, isNull } from 'drizzle-orm'
import { z } from 'zod'
import { createNodeGroup, groupPermissions, setNodeGroupMembers } from '../groups/index.ts'
import { type NodeGroup, nodeGroupMembers, nodeGroups } from '../groups/tables.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, InvalidInput, NotFound, parseInput } from '../kernel/errors.ts'
import { singleLineText } from '../kernel/input.ts'
import { NodeXname } from '../nodes/network/index.ts'
import { computeNodes } from '../nodes/tables.ts'
import { groupName, isGroupNamed } from './queries.ts'

const Label = singleLineText(64).regex(/^[A-Za-z0-9_.:-]+$/, 'must contain only letters, digits and . _ : -')
const Xnames = z.array(NodeXname).max(10_000, 'at most 10,000')

export const CreateComponentGroupInput = z.object({
  label: Label,
  description: z.string().max(2000).nullish(),
  exclusiveGroup: singleLineText(64).nullish(),
  xnames: Xnames,
})
export const SetComponentGroupMembersInput = z.object({
  label: Label,
  /** Adds these members, removes these, or replaces all. */
  change: z.enum(['add', 'remove', 'replace']),
  xnames: Xnames,
})

/**
 * Creates a group of the nodes with these xnames. Its name is the label, with `_` for characters that names of groups cannot have.
 * @throws InvalidInput; NotFound a node; Conflict the name is taken
 */
export async function createComponentGroup(ctx: Ctx, input: z.input<typeof CreateComponentGroupInput>): Promise<NodeGroup> {
  authorize(ctx, groupPermissions.write)
  const { label, description, exclusiveGroup, xnames } = parseInput(CreateComponentGroupInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const name = groupName(label)
    const group = await createNodeGroup(ctx, {
      name,
      displayName: name === label ? null : label,
      description: description || null,
      exclusiveSet: exclusiveGroup || null,
    })
    if (xnames.length > 0) await setNodeGroupMembers(ctx, { id: group.id, addNodeIds: await idsOf(tx, ctx, xnames) })
    return group
  })
}

/**
 * Changes the members of a group that are components. Other nodes stay in it.
 * @throws InvalidInput; NotFound the group, a node, or a member to remove; Conflict a member to add is one already, or the group has a query
 */
export async function setComponentGroupMembers(ctx: Ctx, input: z.input<typeof SetComponentGroupMembersInput>): Promise<void> {
  authorize(ctx, groupPermissions.write)
  const { label, change, xnames } = parseInput(SetComponentGroupMembersInput, input)
  await inTransaction(ctx, async (tx, ctx) => {
    const [group] = await tx.select().from(nodeGroups).where(isGroupNamed(ctx, label)).for('no key update')
    if (!group) throw new NotFound(`There is no group ${label}.`)
    const rows = await tx
      .select({ nodeId: nodeGroupMembers.nodeId, xname: computeNodes.xname })
      .from(nodeGroupMembers)
      .innerJoin(computeNodes, and(eq(computeNodes.id, nodeGroupMembers.nodeId), isNull(computeNodes.decommissionedAt)))
      .where(eq(nodeGroupMembers.groupId, group.id))
    const members = new Map(rows.flatMap(({ nodeId, xname }) => (xname === null ? [] : [[xname, nodeId] as const])))
    const wrong = xnames.find((xname) => members.has(xname) === (change === 'add'))
    if (change === 'add' && wrong) throw new Conflict(`${wrong} is a member of the group ${label} already.`)
    if (change === 'remove' && wrong) throw new NotFound(`${wrong} is not a member of the group ${label}.`)
    const removed =
      change === 'remove' ? xnames : change === 'add' ? [] : [...members.keys()].filter((each) => !xnames.includes(each))
    const added = change === 'remove' ? [] : xnames.filter((xname) => !members.has(xname))
    if (removed.length + added.length === 0) return
    await setNodeGroupMembers(ctx, {
      id: group.id,
      addNodeIds: await idsOf(tx, ctx, added),
      removeNodeIds: removed.map((xname) => members.get(xname)!),
    })
  })
}

async function idsOf(tx: Tx, ctx: Ctx, xnames: string[]): Promise<string[]> {
  if (xnames.length === 0) return []
  const rows = await tx
    .select({ id: computeNodes.id, xname: computeNodes.xname })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.xname, xnames, 'text')))
  const ids = new Map(rows.map(({ id, xname }) => [xname, id]))
  const missing = [...new Set(xnames)].filter((xname) => !ids.has(xname))
  if (missing.length > 0)
    throw new InvalidInput(missing.map((xname) => ({ path: 'ids', message: `there is no node with the xname ${xname}` })))
  return [...new Set(xnames)].map((xname) => ids.get(xname)!)
}
