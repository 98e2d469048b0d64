import { and, or, type SQL, sql } from 'drizzle-orm'
import type { Ctx, Tx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { computeNodes } from '../nodes/tables.ts'
import type { NodeColumns } from '../selection/query/index.ts'
import { nodeQueryCondition, parseNodeQuery } from '../selection/query/index.ts'
import { type NodeGroup, nodeGroupMembers, nodeGroups } from './tables.ts'

/**
 * The tenant's groups with what hangs under what. A node is in a group by hand, because it fits the group's query, or by being in
 * a group below. Queries are asked when somebody wants to know, so the answer is never behind.
 */
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

const groupsOf = (tree: GroupTree) => [...tree.byId.values()]

/** Condition that a node is in one of the groups of these names; names that no group has are left out. */
export function isInGroup(tree: GroupTree, names: string[], n: NodeColumns): SQL {
  const wanted = new Set(names)
  const below = groupsOf(tree).filter((group) => tree.upwards(group).some((each) => wanted.has(each.name)))
  const ids = below.map((group) => group.id)
  const byHand = sql`exists (select from ${nodeGroupMembers} m where m.node_id = ${n.id} and m.group_id = any(${sql.param(ids)}::uuid[]))`
  return or(byHand, ...below.filter((group) => group.memberQuery !== null).map((group) => fitsQueryOf(group, n)))!
}

/** Condition that a node fits the query (see parseNodeQuery). @throws InvalidInput at `path` when it cannot be read */
export function fitsNodeQuery(tree: GroupTree, text: string, n: NodeColumns, path = 'query'): SQL {
  const query = parseNodeQuery(text, { path, groups: tree.byName })
  return nodeQueryCondition(query, n, (names) => isInGroup(tree, names, n))
}

/** Condition that a node fits the query of the group. */
function fitsQueryOf(group: NodeGroup, n: NodeColumns): SQL {
  const query = parseNodeQuery(group.memberQuery!, { path: 'memberQuery', groups: null })
  return nodeQueryCondition(query, n, () => sql`false`)
}

/**
 * The groups that each of these nodes is in, nearest last: each one's variables win over those of the groups before it. A group
 * further down its tree is nearer, as in Ansible; of two at one depth the one with the lower priority number, of equal numbers
 * the one whose name comes first.
 */
export async function groupsOfNodes(
  db: Db | Tx,
  ctx: Pick<Ctx, 'tenantId'>,
  nodeIds: string[],
  known?: GroupTree,
): Promise<Map<string, NodeGroup[]>> {
  const tree = known ?? (await readGroupTree(db, ctx))
  const place = new Map(
    groupsOf(tree)
      .sort(nearestLast(tree))
      .map((group, i) => [group, i]),
  )
  // Nodes that are in the same groups, of which a room has many, share one list.
  const lists = new Map<string, NodeGroup[]>()
  const listOf = (ids: string) => {
    const known = lists.get(ids)
    if (known) return known
    // A group made since the tree was read is not in it.
    const groups = ids.split(',').flatMap((id) => (tree.byId.has(id) ? tree.upwards(tree.byId.get(id)!) : []))
    const list = [...new Set(groups)].sort((a, b) => place.get(a)! - place.get(b)!)
    lists.set(ids, list)
    return list
  }
  const direct = new Map((await directGroups(db, ctx, tree, nodeIds)).map((row) => [row.nodeId, row.groupIds]))
  return new Map(nodeIds.map((id) => [id, listOf(direct.get(id) ?? '')]))
}

/** The ids of the groups each node is in by hand and by their queries, with commas between them: a text is read faster than an array. */
async function directGroups(
  db: Db | Tx,
  ctx: Pick<Ctx, 'tenantId'>,
  tree: GroupTree,
  nodeIds: string[],
): Promise<{ nodeId: string; groupIds: string }[]> {
  const byQuery = groupsOf(tree).filter((group) => group.memberQuery !== null)
  const fitting = byQuery.map((group) => sql`case when ${fitsQueryOf(group, computeNodes)} then ${group.id} end`)
  const byHand = sql`(select string_agg(m.group_id::text, ',' order by m.group_id) from ${nodeGroupMembers} m
    where m.node_id = ${computeNodes.id})`
  return db
    .select({ nodeId: computeNodes.id, groupIds: sql<string>`concat_ws(',', ${sql.join([byHand, ...fitting], sql`, `)})` })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, nodeIds)))
}

/** How many nodes are in each of these groups, itself or through a group below. */
export async function countNodesOfGroups(
  db: Db | Tx,
  ctx: Pick<Ctx, 'tenantId'>,
  tree: GroupTree,
  groupIds: string[],
): Promise<Map<string, number>> {
  const wanted = new Set(groupIds)
  const pairs = groupsOf(tree).flatMap((below) =>
    tree.upwards(below).flatMap((group) => (wanted.has(group.id) ? [{ group: group.id, below }] : [])),
  )
  const byQuery = new Set(pairs.flatMap(({ below }) => (below.memberQuery === null ? [] : [below])))
  const direct = [
    sql`select group_id, node_id from ${nodeGroupMembers}`,
    ...[...byQuery].map(
      (group) => sql`select ${group.id}::uuid, ${computeNodes.id} from ${computeNodes}
        where ${visibleTo(ctx, computeNodes)} and ${fitsQueryOf(group, computeNodes)}`,
    ),
  ]
  const { rows } = await db.execute<{ id: string; count: number }>(sql`select w.id, count(distinct d.node_id)::int as count
    from unnest(${sql.param(pairs.map((pair) => pair.group))}::uuid[], ${sql.param(pairs.map((pair) => pair.below.id))}::uuid[])
      as w(id, below_id)
    join (${sql.join(direct, sql` union all `)}) as d(group_id, node_id) on d.group_id = w.below_id
    group by w.id`)
  const counts = new Map(rows.map((row) => [row.id, row.count]))
  return new Map(groupIds.map((id) => [id, counts.get(id) ?? 0]))
}

const nearestLast = (tree: GroupTree) => (a: NodeGroup, b: NodeGroup) =>
  tree.upwards(a).length - tree.upwards(b).length || b.priority - a.priority || (a.name < b.name ? 1 : -1)
