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
  /** The groups that a node is in, nearest last, from its direct groups as `directGroupIds` gives them. */
  withAncestors(directIds: string): NodeGroup[]
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
  const depthOrder = (a: NodeGroup, b: NodeGroup) =>
    upwards(a).length - upwards(b).length || b.priority - a.priority || (a.name < b.name ? 1 : -1)
  // Nodes in the same groups, of which there are many, share one list.
  const lists = new Map<string, NodeGroup[]>()
  const withAncestors = (directIds: string): NodeGroup[] => {
    const known = lists.get(directIds)
    if (known) return known
    // A group created after the tree was read is not in it.
    const direct = directIds.split(',').flatMap((id) => byId.get(id) ?? [])
    const list = [...new Set(direct.flatMap(upwards))].sort(depthOrder)
    lists.set(directIds, list)
    return list
  }
  return { byId, byName: new Map(groups.map((group) => [group.name, group])), upwards, withAncestors }
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
): Promise<Map<string, NodeGroup[]>> {
  const tree = await readGroupTree(db, ctx)
  const rows = await db
    .select({ id: computeNodes.id, groupIds: directGroupIds(tree, computeNodes) })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, nodeIds)))
  const found = new Map(rows.map((row) => [row.id, row.groupIds]))
  return new Map(nodeIds.map((id) => [id, tree.withAncestors(found.get(id) ?? '')]))
}

/** The ids of the groups that node `n` is in by hand and by their queries, joined by commas: a text is parsed faster than an array. */
export function directGroupIds(tree: GroupTree, n: NodeColumns): SQL<string> {
  const byQuery = groupsOf(tree).filter((group) => group.memberQuery !== null)
  const fitting = byQuery.map((group) => sql`case when ${fitsQueryOf(group, n)} then ${group.id} end`)
  const byHand = sql`(select string_agg(m.group_id::text, ',' order by m.group_id) from ${nodeGroupMembers} m where m.node_id = ${n.id})`
  return sql<string>`concat_ws(',', ${sql.join([byHand, ...fitting], sql`, `)})`
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
