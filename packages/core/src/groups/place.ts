import { eq } from 'drizzle-orm'
import { tenants } from '../access/tables.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { type InputIssue, InvalidInput } from '../kernel/errors.ts'
import { parseNodeQuery } from '../selection/query/index.ts'
import { type GroupTree, readGroupTree } from './group-tree.ts'
import type { NodeGroup } from './tables.ts'

/** Maximum depth of the group tree, including the root. */
const MAX_DEPTH = 8
/** Each read of a node's groups evaluates all of them. */
const MAX_QUERIES = 200

/** Reads the tenant's groups and locks them against changes until the transaction ends. */
export async function lockGroupTree(tx: Tx, ctx: Ctx): Promise<GroupTree> {
  await tx.select({ id: tenants.id }).from(tenants).where(eq(tenants.id, ctx.tenantId)).for('no key update')
  return readGroupTree(tx, ctx)
}

type Wanted = Pick<NodeGroup, 'parentId' | 'memberQuery' | 'exclusiveSet'>

/**
 * Validates the parent, query and set of a group.
 * @param id of the group, null for a new one
 * @throws InvalidInput at parentId, memberQuery, exclusiveSet
 */
export function checkPlace(tree: GroupTree, id: string | null, wanted: Wanted): void {
  const issues: InputIssue[] = []
  const groups = [...tree.byId.values()]
  const own = id === null ? undefined : tree.byId.get(id)
  const children = groups.filter((group) => group.parentId !== null && group.parentId === id)
  const parent = wanted.parentId === null ? undefined : tree.byId.get(wanted.parentId)
  if (wanted.parentId !== null && !parent) issues.push({ path: 'parentId', message: `there is no group ${wanted.parentId}` })
  if (parent) {
    const above = tree.upwards(parent)
    if (own && above.includes(own))
      issues.push({
        path: 'parentId',
        message: `${parent.name} is ${parent === own ? 'the group itself' : `below ${own.name}`}; this would create a cycle`,
      })
    else if (above.length + height(tree, own) > MAX_DEPTH)
      issues.push({
        path: 'parentId',
        message: `groups can be nested at most ${MAX_DEPTH} deep; choose a parent above ${parent.name}`,
      })
    if (parent.exclusiveSet)
      issues.push({
        path: 'parentId',
        message: `${parent.name} is in the exclusive set ${parent.exclusiveSet}, so it cannot have child groups`,
      })
  }
  if (wanted.memberQuery !== null) {
    try {
      parseNodeQuery(wanted.memberQuery, { path: 'memberQuery', groups: null })
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error
      issues.push(...error.issues)
    }
    if (groups.filter((group) => group.memberQuery !== null && group !== own).length >= MAX_QUERIES)
      issues.push({ path: 'memberQuery', message: `the limit of ${MAX_QUERIES} groups with a query is reached` })
    if (wanted.exclusiveSet)
      issues.push({
        path: 'exclusiveSet',
        message: 'a group with a query cannot be in an exclusive set: a node could match the queries of two groups',
      })
  }
  if (wanted.exclusiveSet && children.length > 0)
    issues.push({
      path: 'exclusiveSet',
      message: `the group has child groups (${children.map((child) => child.name).join(', ')}); a group in an exclusive set cannot have child groups`,
    })
  if (issues.length > 0) throw new InvalidInput(issues)
}

/** Number of levels of the group and its descendants. */
function height(tree: GroupTree, group: NodeGroup | undefined): number {
  if (!group) return 1
  const trails = [...tree.byId.values()].map((each) => tree.upwards(each).indexOf(group))
  return 1 + Math.max(...trails)
}
