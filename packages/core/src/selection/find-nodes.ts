import { and, isNull } from 'drizzle-orm'
import type { Ctx, Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, NotFound } from '../kernel/errors.ts'
import { computeNodes, LEAN_NODE, type LeanNode } from '../nodes/tables.ts'
import { foldHostlist } from './hostlist.ts'

/**
 * Returns the nodes with these ids, in that order. In a transaction it locks them in service until the end.
 * @throws NotFound when one does not exist for the caller
 * @throws Conflict when one is decommissioned
 */
export async function findNodes(ctx: Ctx, ids: string[], tx?: Tx): Promise<LeanNode[]> {
  const scope = and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, ids))
  const query = (tx ?? ctx.db).select(LEAN_NODE).from(computeNodes)
  const inService = and(scope, isNull(computeNodes.decommissionedAt))
  // Lock in the order of ids, so that concurrent transactions do not deadlock.
  const rows = tx ? await query.where(inService).orderBy(computeNodes.id).for('share') : await query.where(inService)
  const found = new Map(rows.map((row) => [row.id, row]))
  if (found.size < ids.length) {
    const gone = await (tx ?? ctx.db).select({ id: computeNodes.id, name: computeNodes.name }).from(computeNodes).where(scope)
    const names = new Map(gone.map((row) => [row.id, row.name]))
    const missing = ids.filter((id) => !names.has(id))
    if (missing.length > 0)
      throw new NotFound(
        `There is no node ${missing.slice(0, 5).join(', ')}${missing.length > 5 ? ` (and ${missing.length - 5} more)` : ''}.`,
      )
    const retired = ids.filter((id) => !found.has(id)).map((id) => names.get(id)!)
    throw new Conflict(`Decommissioned: ${foldHostlist(retired)}. Recommission these nodes or exclude them.`)
  }
  return ids.map((id) => found.get(id)!)
}
