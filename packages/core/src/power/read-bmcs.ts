import { and, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorizeNodes } from '../groups/index.ts'
import { authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { listedNames } from '../kernel/names.ts'
import { type LeanNode, nodeBmcs } from '../nodes/tables.ts'
import { findNodes } from '../selection/index.ts'
import { bmcAudit } from './audit-actions.ts'
import { powerPermissions } from './permissions.ts'
import { bmcReadQueue } from './queues.ts'
import { bmcReadings } from './tables.ts'

export const ReadBmcsInput = z.object({ nodeIds: z.array(Id).min(1, 'must name at least one node').max(500, 'at most 500') })

/**
 * Requests a reading of the BMCs of nodes: power state, inventory, sensors and event log. A worker reads each of them.
 * @throws Forbidden, NotFound, Conflict a node has no BMC
 */
export async function readBmcs(ctx: Ctx, input: z.input<typeof ReadBmcsInput>): Promise<LeanNode[]> {
  authorizeSomewhere(ctx, powerPermissions.read)
  const { nodeIds } = parseInput(ReadBmcsInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const nodes = await findNodes(ctx, nodeIds, tx)
    await authorizeNodes(tx, ctx, powerPermissions.read, nodeIds)
    const bmcs = await tx
      .select({ id: nodeBmcs.id, nodeId: nodeBmcs.nodeId })
      .from(nodeBmcs)
      .where(and(visibleTo(ctx, nodeBmcs), isOneOf(nodeBmcs.nodeId, nodeIds)))
      .orderBy(nodeBmcs.id)
    const without = nodes.filter(({ id }) => !bmcs.some(({ nodeId }) => nodeId === id)).map(({ name }) => name)
    if (without.length > 0)
      throw new Conflict(
        `${listedNames(without)} ${without.length === 1 ? 'has' : 'have'} no BMC. Set it with \`muster bmc set\`.`,
      )
    await tx
      .insert(bmcReadings)
      .values(bmcs.map(({ id }) => ({ bmcId: id, tenantId: ctx.tenantId, requestedAt: sql`now()` })))
      .onConflictDoUpdate({ target: bmcReadings.bmcId, set: { requestedAt: sql`now()` } })
    await ctx.queue.send(
      tx,
      bmcReadQueue,
      bmcs.map(({ id }) => ({ id, tenantId: ctx.tenantId })),
    )
    await audit(tx, ctx, bmcAudit.read, nodes)
    return nodes
  })
}
