import { expandHostlist } from '@muster/slurm'
import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit, changeOf } from '../../audit/index.ts'
import { slurmClusters, slurmNodes } from '../../clusters/tables.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, parseInput } from '../../kernel/errors.ts'
import { Id } from '../../kernel/input.ts'
import { slurmPowerSavings } from '../../slurm-power/tables.ts'
import { nodeAudit } from '../audit-actions.ts'
import { nodeChanged } from '../change-events.ts'
import { nodePermissions } from '../permissions.ts'
import { computeNodes, type LeanNode, nodeBmcs } from '../tables.ts'

const RemoveNodeBmcInput = z.object({ nodeId: Id })

/**
 * Removes the BMC of a node with what was read from it.
 * @throws NotFound, Conflict the node has no BMC, or slurmctld may suspend it: it could not be powered on again
 */
export async function removeNodeBmc(ctx: Ctx, input: z.input<typeof RemoveNodeBmcInput>): Promise<LeanNode> {
  authorize(ctx, nodePermissions.write)
  const { nodeId } = parseInput(RemoveNodeBmcInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const reason = await suspendableReason(tx, ctx, nodeId)
    if (reason) throw new Conflict(reason)
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

/** Null when power saving does not use the BMC of the node, else which cluster does. */
async function suspendableReason(tx: Tx, ctx: Ctx, nodeId: string): Promise<string | null> {
  const rows = await tx
    .select({ name: slurmNodes.name, cluster: slurmClusters.name, settings: slurmPowerSavings.settings })
    .from(slurmNodes)
    .innerJoin(slurmClusters, eq(slurmClusters.id, slurmNodes.clusterId))
    .innerJoin(slurmPowerSavings, eq(slurmPowerSavings.clusterId, slurmNodes.clusterId))
    .where(and(visibleTo(ctx, slurmNodes), eq(slurmNodes.nodeId, nodeId)))
  const found = rows.find(
    ({ name, settings: { excludedNodes } }) => !excludedNodes || !expandHostlist(excludedNodes).includes(name),
  )
  if (!found) return null
  const { name, cluster } = found
  return `Power saving of the cluster ${cluster} powers the node ${name} through its BMC. Exclude the node from power saving first.`
}
