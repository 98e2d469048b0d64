import { visibleTo } from '@muster/core/db'
import { InvalidInput } from '@muster/core/errors'
import { isInGroup } from '@muster/core/groups'
import { schema } from '@muster/core/registry'
import { and, asc, desc, gt, lt, sql } from 'drizzle-orm'
import type { ApiContext } from '../../context.ts'
import { loaderWithArgs, type Page } from '../shared/loaders.ts'
import { groupTree } from './tree.ts'

const { computeNodes } = schema

/** The ID of a node. Its fields are loaded later, those of all pages in one statement. */
type NodeRef = { id: string }

const pages = loaderWithArgs<NodeRef[], Page>(async (context, groupIds, { after, before, limit, inverted }) => {
  const { ctx } = context
  const tree = await groupTree(context)
  const range = and(
    after === undefined ? undefined : gt(computeNodes.id, idOf(after, 'after')),
    before === undefined ? undefined : lt(computeNodes.id, idOf(before, 'before')),
  )
  const pageOf = (groupId: string) =>
    ctx.db
      .select({ groupId: sql`${groupId}`.as('group_id'), id: computeNodes.id })
      .from(computeNodes)
      .where(and(visibleTo(ctx, computeNodes), isInGroup(tree, [tree.byId.get(groupId)!.name], computeNodes), range))
      .orderBy(inverted ? desc(computeNodes.id) : asc(computeNodes.id))
      .limit(limit)
  const all = sql.join(
    groupIds.map((id) => sql`${pageOf(id)}`),
    sql` union all `,
  )
  const { rows } = await ctx.db.execute<{ group_id: string; id: string }>(
    sql`select * from (${all}) p order by id ${sql.raw(inverted ? 'desc' : 'asc')}`,
  )
  const byGroup = Map.groupBy(rows, (row) => row.group_id)
  return new Map([...byGroup].map(([groupId, ofGroup]) => [groupId, ofGroup.map(({ id }) => ({ id }))]))
})

/** A page of the nodes of a group and its child groups. @throws InvalidInput for a malformed cursor */
export const nodePage = async (context: ApiContext, groupId: string, args: Page): Promise<NodeRef[]> =>
  (await pages(context, groupId, args)) ?? []

/** The node ID that is a cursor. @throws InvalidInput */
function idOf(cursor: string, path: string): string {
  if (!/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(cursor))
    throw new InvalidInput([{ path, message: 'must be the cursor of a node in this list' }])
  return cursor
}
