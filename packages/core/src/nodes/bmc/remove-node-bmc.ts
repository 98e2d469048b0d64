import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit, changeOf } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../../kernel/db/rows.ts'
import { parseInput } from '../../kernel/errors.ts'
import { Id } from '../../kernel/input.ts'
import { nodeAudit } from '../audit-actions.ts'
import { nodeChanged } from '../change-events.ts'
import { nodePermissions } from '../permissions.ts'
import { computeNodes, type LeanNode, nodeBmcs } from '../tables.ts'

const RemoveNodeBmcInput = z.object({ nodeId: Id })

/**
 * Removes the BMC of a node with what was read from it.
 * @throws NotFound, Conflict the node has no BMC
 */
export async function removeNodeBmc(ctx: Ctx, input: z.input<typeof RemoveNodeBmcInput>): Promise<LeanNode> {
  authorize(ctx, nodePermissions.write)
  const { nodeId } = parseInput(RemoveNodeBmcInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const [bmc] = await tx
      .delete(nodeBmcs)
      .where(and(visibleTo(ctx, nodeBmcs), eq(nodeBmcs.nodeId, nodeId)))
      .returning()
    if (!bmc) throw await notFoundOrConflict(tx, ctx, computeNodes, nodeId, 'node', ({ name }) => `The node ${name} has no BMC.`)
    const [node] = await tx
      .select()
      .from(computeNodes)
      .where(and(visibleTo(ctx, computeNodes), eq(computeNodes.id, nodeId)))
    await audit(tx, ctx, nodeAudit.removeBmc, node!, { address: bmc.address }, { change: changeOf(nodeBmcs, bmc, null) })
    ctx.notify(nodeChanged({ id: nodeId, tenantId: ctx.tenantId }))
    return node!
  })
}
