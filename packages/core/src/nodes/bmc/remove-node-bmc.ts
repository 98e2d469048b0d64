import { expandHostlist } from '@muster/slurm'
import { and, asc, eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit, changeOf } from '../../audit/index.ts'
import { slurmClusters, slurmNodes } from '../../clusters/tables.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../../kernel/context.ts'
import { isOneOf, notFoundOrConflict, visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, parseInput } from '../../kernel/errors.ts'
import { Id } from '../../kernel/input.ts'
import { slurmPowerSavings } from '../../slurm-power/tables.ts'
import { nodeAudit } from '../audit-actions.ts'
import { nodeChanged } from '../change-events.ts'
import { nodePermissions } from '../permissions.ts'
import { computeNodes, LEAN_NODE, type LeanNode, nodeBmcs } from '../tables.ts'

const RemoveNodeBmcInput = z.object({ nodeId: Id })

/**
 * Removes the BMC of a node with what was read from it.
 * @throws NotFound, Conflict the node has no BMC, or slurmctld may suspend it: it could not be powered on again
 */
export async function removeNodeBmc(ctx: Ctx, input: z.input<typeof RemoveNodeBmcInput>): Promise<LeanNode> {
  authorize(ctx, nodePermissions.write)
  const { nodeId } = parseInput(RemoveNodeBmcInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const [node] = await deleteBmcs(tx, ctx, [nodeId])
    return node!
  })
}

/** Deletes the BMCs of nodes. @returns the nodes. @throws NotFound, Conflict */
export async function deleteBmcs(tx: Tx, ctx: Ctx, nodeIds: string[]): Promise<LeanNode[]> {
  const reason = await suspendableReason(tx, ctx, nodeIds)
  if (reason) throw new Conflict(reason)
  // Sorted, so that concurrent calls with the same nodes do not deadlock.
  const nodes = await tx
    .select(LEAN_NODE)
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, nodeIds)))
    .orderBy(asc(computeNodes.id))
    .for('no key update')
  const bmcs = await tx
    .delete(nodeBmcs)
    .where(and(visibleTo(ctx, nodeBmcs), isOneOf(nodeBmcs.nodeId, nodeIds)))
    .returning()
  const byNode = new Map(bmcs.map((bmc) => [bmc.nodeId, bmc]))
  const missing = nodeIds.find((id) => !byNode.has(id))
  if (missing)
    throw await notFoundOrConflict(tx, ctx, computeNodes, missing, 'node', ({ name }) => `The node ${name} has no BMC.`)
  const objects = nodes.map(({ id, name }) => {
    const bmc = byNode.get(id)!
    return { id, name, details: { address: bmc.address }, change: changeOf(nodeBmcs, bmc, null) }
  })
  await audit(tx, ctx, nodeAudit.removeBmc, objects)
  for (const id of nodeIds) ctx.notify(nodeChanged({ id, tenantId: ctx.tenantId }))
  return nodes
}

/** Null when power saving uses the BMC of none of the nodes, else which cluster does. */
async function suspendableReason(tx: Tx, ctx: Ctx, nodeIds: string[]): Promise<string | null> {
  const rows = await tx
    .select({ name: slurmNodes.name, cluster: slurmClusters.name, settings: slurmPowerSavings.settings })
    .from(slurmNodes)
    .innerJoin(slurmClusters, eq(slurmClusters.id, slurmNodes.clusterId))
    .innerJoin(slurmPowerSavings, eq(slurmPowerSavings.clusterId, slurmNodes.clusterId))
    .where(and(visibleTo(ctx, slurmNodes), isOneOf(slurmNodes.nodeId, nodeIds)))
  const excluded = new Map<string, Set<string>>()
  const found = rows.find(({ name, cluster, settings: { excludedNodes } }) => {
    if (!excludedNodes) return true
    const names = excluded.get(cluster) ?? new Set(expandHostlist(excludedNodes))
    excluded.set(cluster, names)
    return !names.has(name)
  })
  if (!found) return null
  const { name, cluster } = found
  return `Power saving of the cluster ${cluster} powers the node ${name} through its BMC. Exclude the node from power saving first.`
}
