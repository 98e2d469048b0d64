import { and, eq } from 'drizzle-orm'
import type { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { visibleTo, whyNoRow } from '../db/rows.ts'
import { parseInput } from '../errors.ts'
import { ById } from '../input.ts'
import { whyNotDelete } from './policy.ts'
import { nodeGroups } from './tables.ts'

/** Delete a group; its nodes stay. @throws NotFound, Conflict it belongs to Muster itself */
export async function deleteNodeGroup(ctx: Ctx, input: z.input<typeof ById>): Promise<{ id: string }> {
  authorize(ctx, 'group:write')
  const { id } = parseInput(ById, input)
  return inTransaction(ctx, async (tx) => {
    const [group] = await tx
      .delete(nodeGroups)
      .where(and(visibleTo(ctx, nodeGroups), eq(nodeGroups.id, id), eq(nodeGroups.isSystem, false)))
      .returning()
    if (!group) throw await whyNoRow(tx, ctx, nodeGroups, id, 'group', (row) => whyNotDelete(ctx.actor, row))
    await audit(tx, ctx, 'node_group.delete', group)
    return { id }
  })
}
