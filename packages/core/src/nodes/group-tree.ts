import type { Ctx, Tx } from '../context.ts'
import type { Db } from '../db/client.ts'
import { isOneOf, visibleTo } from '../db/rows.ts'
import { type NodeGroup, nodeGroupMembers, nodeGroups } from '../groups/tables.ts'

/** The tenant's groups with what hangs under what. A node is in a group by hand, or by being in one of the groups below it. */
export type GroupTree = {
  byId: Map<string, NodeGroup>
  byName: Map<string, NodeGroup>
  /** The group itself first, then the one above it, up to the top. */
  upwards(group: NodeGroup): NodeGroup[]
}

export async function readGroupTree(db: Db | Tx, ctx: Pick<Ctx, 'tenantId'>): Promise<GroupTree> {
  const groups = await db.select().from(nodeGroups).where(visibleTo(ctx, nodeGroups))
  const byId = new Map(groups.map((group) => [group.id, group]))
  const trails = new Map<string, NodeGroup[]>()
  const upwards = (group: NodeGroup): NodeGroup[] => {
    const known = trails.get(group.id)
    if (known) return known
    const parent = group.parentId === null ? undefined : byId.get(group.parentId)
    const trail = [group, ...(parent ? upwards(parent) : [])]
    trails.set(group.id, trail)
    return trail
  }
  return { byId, byName: new Map(groups.map((group) => [group.name, group])), upwards }
}

/**
 * The groups that each of these nodes is in, itself or through a group below, nearest last: each one's variables win over those
 * of the groups before it. A group further down its tree is nearer, as in Ansible; of two at one depth the one with the lower
 * priority number, of equal numbers the one whose name comes first.
 */
export async function groupsOfNodes(
  db: Db | Tx,
  ctx: Pick<Ctx, 'tenantId'>,
  nodeIds: string[],
): Promise<Map<string, NodeGroup[]>> {
  const tree = await readGroupTree(db, ctx)
  const rows = await db
    .select({ nodeId: nodeGroupMembers.nodeId, groupId: nodeGroupMembers.groupId })
    .from(nodeGroupMembers)
    .where(isOneOf(nodeGroupMembers.nodeId, nodeIds))
  const sets = new Map(nodeIds.map((id) => [id, new Set<NodeGroup>()]))
  for (const { nodeId, groupId } of rows)
    for (const group of tree.byId.has(groupId) ? tree.upwards(tree.byId.get(groupId)!) : []) sets.get(nodeId)!.add(group)
  const place = new Map([...tree.byId.values()].sort(nearestLast(tree)).map((group, i) => [group, i]))
  return new Map([...sets].map(([id, groups]) => [id, [...groups].sort((a, b) => place.get(a)! - place.get(b)!)]))
}

const nearestLast = (tree: GroupTree) => (a: NodeGroup, b: NodeGroup) =>
  tree.upwards(a).length - tree.upwards(b).length || b.priority - a.priority || (a.name < b.name ? 1 : -1)
