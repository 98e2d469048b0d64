import { and, eq, isNull } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { slurmClusterAudit } from '../clusters/audit-actions.ts'
import { slurmClusterChanged } from '../clusters/change-events.ts'
import { authorizeCluster, WITHOUT_SALT } from '../clusters/index.ts'
import { type SlurmCluster, slurmClusters } from '../clusters/tables.ts'
import { authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { Conflict, parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { lockCluster, slurmOperations } from '../slurm-operations/index.ts'
import { slurmPowerSavings } from '../slurm-power/tables.ts'
import { slurmScalePermissions } from './permissions.ts'

/**
 * Ends the management of a cluster: it becomes an external one, which Muster never writes. Nothing changes on its machines.
 * @throws Forbidden; NotFound; Conflict it is external, has power saving, or an operation runs on it
 */
export async function releaseSlurmCluster(ctx: Ctx, input: z.input<typeof IdInput>): Promise<SlurmCluster> {
  authorizeSomewhere(ctx, slurmScalePermissions.nodes)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const before = await lockCluster(tx, ctx, id)
    authorizeCluster(ctx, slurmScalePermissions.nodes, before)
    if (before.kind !== 'MANAGED') throw new Conflict(`The cluster ${before.name} is not managed by Muster.`)
    const [running] = await tx
      .select({ kind: slurmOperations.kind, id: slurmOperations.id })
      .from(slurmOperations)
      .where(and(eq(slurmOperations.clusterId, id), isNull(slurmOperations.finishedAt)))
    if (running)
      throw new Conflict(
        `The operation ${running.kind} ${running.id} runs on the cluster ${before.name}. Wait for its end, or cancel it.`,
      )
    const [saving] = await tx.select().from(slurmPowerSavings).where(eq(slurmPowerSavings.clusterId, id))
    if (saving)
      throw new Conflict(
        `The controllers of the cluster ${before.name} power its nodes through Muster. Turn power saving off first; that powers suspended nodes on.`,
      )
    const [cluster] = await tx
      .update(slurmClusters)
      .set({ kind: 'EXTERNAL', reuseConfig: true, reuseMungeKey: true, reuseDatabase: true, ...WITHOUT_SALT })
      .where(eq(slurmClusters.id, id))
      .returning()
    await audit(tx, ctx, slurmClusterAudit.update, cluster!)
    ctx.notify(slurmClusterChanged(cluster!))
    return cluster!
  })
}
