import { and, eq } from 'drizzle-orm'
import type { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { visibleTo } from '../db/rows.ts'
import { Conflict, NotFound, parseInput } from '../errors.ts'
import { ById } from '../input.ts'
import { lockGroupTree } from './place.ts'
import { whyNotDelete } from './policy.ts'
import { nodeGroups } from './tables.ts'

/** Delete a group; its nodes stay. @throws NotFound, Conflict it belongs to Muster itself, or groups hang below it */
export async function deleteNodeGroup(ctx: Ctx, input: z.input<typeof ById>): Promise<{ id: string }> {
  authorize(ctx, 'group:write')
  const { id } = parseInput(ById, input)
  return inTransaction(ctx, async (tx) => {
    const { byId } = await lockGroupTree(tx, ctx)
    const group = byId.get(id)
    if (!group) throw new NotFound(`There is no group ${id}.`)
    const children = [...byId.values()].filter((each) => each.parentId === id).map((each) => each.name)
    const refused = whyNotDelete(ctx.actor, group, children)
    if (refused) throw new Conflict(refused)
    await tx.delete(nodeGroups).where(and(visibleTo(ctx, nodeGroups), eq(nodeGroups.id, id)))
    await audit(tx, ctx, 'node_group.delete', group)
    return { id }
  })
}
