import { type DiscoveryChange, diffDiscoveries } from '@muster/discovery'
import { and } from 'drizzle-orm'
import type { Ctx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, NotFound } from '../kernel/errors.ts'
import { discoveries } from './tables.ts'

/**
 * Returns the differences between two discoveries of one node or of two nodes. Ignores values that change constantly. Between two
 * nodes, also ignores unique values such as names, addresses and serial numbers.
 * @throws NotFound, Conflict one of them has no result
 */
export async function diffNodeDiscoveries(ctx: Ctx, ids: { before: string; after: string }): Promise<DiscoveryChange[]> {
  const rows = await ctx.db
    .select()
    .from(discoveries)
    .where(and(visibleTo(ctx, discoveries), isOneOf(discoveries.id, [ids.before, ids.after])))
  const found = (id: string) => {
    const row = rows.find((each) => each.id === id)
    if (!row) throw new NotFound(`There is no discovery ${id}.`)
    if (!row.result) throw new Conflict(`The discovery ${id} is ${row.status} and has no result to compare.`)
    return { nodeId: row.nodeId, result: row.result }
  }
  const [before, after] = [found(ids.before), found(ids.after)]
  return diffDiscoveries(before.result, after.result, { acrossNodes: before.nodeId !== after.nodeId })
}
