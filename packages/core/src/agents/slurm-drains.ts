import { and, eq } from 'drizzle-orm'
import { authorizeTargets } from '../clusters/index.ts'
import { slurmClusters, slurmNodes } from '../clusters/tables.ts'
import { type Ctx, createdBy, type Tx } from '../kernel/context.ts'
import { newId } from '../kernel/db/columns.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { Conflict } from '../kernel/errors.ts'
import { insertSlurmAction, markedReason, slurmActions, slurmNodePermissions, slurmReason } from '../slurm-actions/index.ts'
import type { SlurmDrain } from './tables.ts'

/** The nodes of Slurm clusters that are this node of the inventory. */
export const slurmNodesOf = (db: Tx | Ctx['db'], ctx: Ctx, nodeIds: string[]) =>
  db
    .select({
      nodeId: slurmNodes.nodeId,
      name: slurmNodes.name,
      state: slurmNodes.state,
      partitions: slurmNodes.partitions,
      cluster: { id: slurmClusters.id, name: slurmClusters.name, controllerNodeId: slurmClusters.controllerNodeId },
    })
    .from(slurmNodes)
    .innerJoin(slurmClusters, eq(slurmClusters.id, slurmNodes.clusterId))
    .where(and(visibleTo(ctx, slurmNodes), isOneOf(slurmNodes.nodeId, nodeIds)))
    .orderBy(slurmClusters.name, slurmNodes.name)

/**
 * Starts a Slurm action for each cluster that has the node. Drains of others keep their reasons.
 * @param earlier drains of the request that is repeated: only those that failed are started again
 * @throws Forbidden, Conflict
 */
export async function drainInSlurm(
  tx: Tx,
  ctx: Ctx,
  nodeId: string,
  reason: string,
  earlier: readonly SlurmDrain[],
): Promise<SlurmDrain[]> {
  const drains = earlier.filter(({ failure }) => !failure)
  for (const { name, partitions, cluster } of await slurmNodesOf(tx, ctx, [nodeId])) {
    const last = earlier.find((drain) => drain.clusterId === cluster.id && drain.name === name)
    if (last && !last.failure) continue
    authorizeTargets(ctx, slurmNodePermissions.drain, cluster, [{ target: name, partitions }])
    if (!cluster.controllerNodeId)
      throw new Conflict(`The cluster ${cluster.name} has no controller node, so ${name} cannot be drained in Slurm. Choose one.`)
    const id = newId()
    // The node may have the reason of the first command, which a second one keeps.
    const slurmText = last?.failure?.result === 'NOT_VERIFIED' ? last.reason : markedReason(slurmReason(reason), id)
    const drain = { clusterId: cluster.id, name, reason: slurmText, actionId: id }
    await insertSlurmAction(tx, ctx, {
      id,
      cluster,
      action: { verb: 'DRAIN_NODES', reason: drain.reason, keepDrained: true },
      reason,
      targets: [name],
      createdBy: createdBy(ctx),
    })
    drains.push(drain)
  }
  return drains
}

/** Ends the drains in Slurm that still have the reasons of `drains`. What Slurm has set DOWN stays so. @throws Forbidden, Conflict */
export async function resumeInSlurm(tx: Tx, ctx: Ctx, drains: readonly SlurmDrain[]): Promise<void> {
  for (const { clusterId, name, reason, actionId } of drains) {
    const [cluster] = await tx
      .select()
      .from(slurmClusters)
      .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, clusterId)))
    if (!cluster?.controllerNodeId) continue
    const [node] = await tx
      .select({ partitions: slurmNodes.partitions })
      .from(slurmNodes)
      .where(and(eq(slurmNodes.clusterId, clusterId), eq(slurmNodes.name, name)))
    authorizeTargets(ctx, slurmNodePermissions.resume, cluster, [{ target: name, partitions: node?.partitions ?? [] }])
    // Actions of one node are executed in any order.
    const [action] = await tx.select().from(slurmActions).where(eq(slurmActions.id, actionId))
    if (action && !action.finishedAt)
      throw new Conflict(`The drain of ${name} in the cluster ${cluster.name} has not been executed yet. Resume it when it has.`)
    await insertSlurmAction(tx, ctx, {
      id: newId(),
      cluster,
      action: { verb: 'UNDRAIN_NODES', onlyReason: reason },
      reason: 'The drain was canceled.',
      targets: [name],
      createdBy: createdBy(ctx),
    })
  }
}
