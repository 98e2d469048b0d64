import { and, or, type SQL, sql } from 'drizzle-orm'
import type { Ctx, Tx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { computeNodes } from '../nodes/tables.ts'
import type { NodeColumns } from '../selection/query/index.ts'
import { nodeQueryCondition, parseNodeQuery } from '../selection/query/index.ts'
import { type NodeGroup, nodeGroupMembers, nodeGroups } from './tables.ts'

/**
 * The tenant's group tree. A node is in a group as an explicit member, through the group's query, or through a child group.
 * Queries are evaluated on each read, so the result is always current.
 */
export type GroupTree = {
  byId: Map<string, NodeGroup>
  byName: Map<string, NodeGroup>
  /** The group itself first, then its ancestors up to the root. */
  upwards(group: NodeGroup): NodeGroup[]
  /** The groups of a node, nearest last, from its direct groups as `directGroupIds` returns them. */
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
  // Many nodes are in the same groups; they share one list.
  const lists = new Map<string, NodeGroup[]>()
  const withAncestors = (directIds: string): NodeGroup[] => {
    const known = lists.get(directIds)
    if (known) return known
    // The tree does not contain groups that were created after it was read.
    const direct = directIds.split(',').flatMap((id) => byId.get(id) ?? [])
    const list = [...new Set(direct.flatMap(upwards))].sort(depthOrder)
    lists.set(directIds, list)
    return list
  }
  return { byId, byName: new Map(groups.map((group) => [group.name, group])), upwards, withAncestors }
}

const groupsOf = (tree: GroupTree) => [...tree.byId.values()]

/** Condition that a node is in one of the groups of these names; ignores unknown names. */
export function isInGroup(tree: GroupTree, names: string[], n: NodeColumns): SQL {
  const wanted = new Set(names)
  const below = groupsOf(tree).filter((group) => tree.upwards(group).some((each) => wanted.has(each.name)))
  const ids = below.map((group) => group.id)
  const byHand = sql`exists (select from ${nodeGroupMembers} m where m.node_id = ${n.id} and m.group_id = any(${sql.param(ids)}::uuid[]))`
  return or(byHand, ...below.filter((group) => group.memberQuery !== null).map((group) => matchesQueryOf(group, n)))!
}

/** Condition that a node matches the query (see parseNodeQuery). @throws InvalidInput at `path` when the query is invalid */
export function matchesNodeQuery(tree: GroupTree, text: string, n: NodeColumns, path = 'query'): SQL {
  const query = parseNodeQuery(text, { path, groups: tree.byName })
  return nodeQueryCondition(query, n, (names) => isInGroup(tree, names, n))
}

/** Condition that a node matches the group's query. */
function matchesQueryOf(group: NodeGroup, n: NodeColumns): SQL {
  const query = parseNodeQuery(group.memberQuery!, { path: 'memberQuery', groups: null })
  return nodeQueryCondition(query, n, () => sql`false`)
}

/**
 * Returns the groups of each of these nodes, nearest last: variables of later groups override earlier ones. As in Ansible, a
 * deeper group is nearer. At equal depth, the lower priority number is nearer, then the first name.
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

/** The ids of node `n`'s groups, by membership and by query, joined by commas. Text is parsed faster than an array. */
export function directGroupIds(tree: GroupTree, n: NodeColumns): SQL<string> {
  const byQuery = groupsOf(tree).filter((group) => group.memberQuery !== null)
  const fitting = byQuery.map((group) => sql`case when ${matchesQueryOf(group, n)} then ${group.id} end`)
  const byHand = sql`(select string_agg(m.group_id::text, ',' order by m.group_id) from ${nodeGroupMembers} m where m.node_id = ${n.id})`
  return sql<string>`concat_ws(',', ${sql.join([byHand, ...fitting], sql`, `)})`
}

/** Returns how many nodes are in each of these groups, directly or through child groups. */
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
        where ${visibleTo(ctx, computeNodes)} and ${matchesQueryOf(group, computeNodes)}`,
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
