import { and, eq, isNull } from 'drizzle-orm'
import type { z } from 'zod'
import { resolveAlerts } from '../alerts/index.ts'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict, NotFound, parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { jobRunSlurmNodes, jobRuns } from '../runs/tables.ts'
import { slurmActions } from '../slurm-actions/tables.ts'
import { slurmOperations } from '../slurm-operations/tables.ts'
import { slurmClusterAudit } from './audit-actions.ts'
import { slurmClusterChanged } from './change-events.ts'
import { slurmClusterPermissions } from './permissions.ts'
import { slurmClusters } from './tables.ts'

/**
 * Removes a cluster from Muster, with what Muster knows of its nodes and jobs. Nothing changes on its machines, and nodes of
 * the inventory stay.
 * @throws NotFound; Conflict it is managed, or one of its actions, operations or runs over batches has not ended
 */
export async function removeSlurmCluster(ctx: Ctx, input: z.input<typeof IdInput>): Promise<{ id: string }> {
  authorize(ctx, slurmClusterPermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const scope = and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, id))
    const [cluster] = await tx.select().from(slurmClusters).where(scope).for('update')
    if (!cluster) throw new NotFound(`There is no cluster ${id}.`)
    if (cluster.kind === 'MANAGED' && cluster.configNumber !== null)
      throw new Conflict(
        `Muster manages the cluster ${cluster.name}: its nodes would be left without management. Release the cluster first; it becomes an external one.`,
      )
    const [running] = await tx
      .select({ id: slurmActions.id, verb: slurmActions.verb, createdByName: slurmActions.createdByName })
      .from(slurmActions)
      .where(and(eq(slurmActions.clusterId, id), isNull(slurmActions.finishedAt)))
      .orderBy(slurmActions.id)
      .limit(1)
    if (running)
      throw new Conflict(
        `The action ${running.verb} ${running.id} of ${running.createdByName} runs on the cluster ${cluster.name}. Wait for its end.`,
      )
    const [operation] = await tx
      .select({ id: slurmOperations.id, kind: slurmOperations.kind })
      .from(slurmOperations)
      .where(and(eq(slurmOperations.clusterId, id), isNull(slurmOperations.finishedAt)))
    if (operation)
      throw new Conflict(
        `The operation ${operation.kind} ${operation.id} runs on the cluster ${cluster.name}. Wait for its end, or cancel it.`,
      )
    const [run] = await tx
      .select({ number: jobRuns.number })
      .from(jobRunSlurmNodes)
      .innerJoin(jobRuns, eq(jobRuns.id, jobRunSlurmNodes.jobRunId))
      .where(and(eq(jobRunSlurmNodes.clusterId, id), isNull(jobRuns.finishedAt)))
      .orderBy(jobRuns.number)
      .limit(1)
    if (run)
      throw new Conflict(
        `The run ${run.number} drains nodes of the cluster ${cluster.name}, and resumes them. Wait for its end, or cancel it.`,
      )
    await tx.delete(slurmClusters).where(scope)
    // The alerts that the reconciler raises end by themselves.
    const resolved = { tenantId: ctx.tenantId, nodeId: null, cluster: cluster.name, kinds: ['slurm_scale_out_failed' as const] }
    for (const changeEvent of await resolveAlerts(tx, [resolved])) ctx.notify(changeEvent)
    await audit(tx, ctx, slurmClusterAudit.remove, cluster)
    ctx.notify(slurmClusterChanged(cluster))
    return { id }
  })
}
