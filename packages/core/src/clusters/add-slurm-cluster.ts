import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorize, type Ctx, createdBy } from '../kernel/context.ts'
import { parseInput } from '../kernel/errors.ts'
import { slurmClusterAudit } from './audit-actions.ts'
import { slurmClusterChanged } from './change-events.ts'
import { assertOwnControllers, checkControllers, clusterConflict } from './controllers.ts'
import { CLUSTER_FIELDS } from './fields.ts'
import { slurmClusterPermissions } from './permissions.ts'
import { slurmRefreshQueue } from './queues.ts'
import { SLURMRESTD_FIELDS, slurmrestdColumns } from './slurmrestd.ts'
import { type SlurmCluster, slurmClusters } from './tables.ts'

export const AddSlurmClusterInput = z.object({
  ...CLUSTER_FIELDS,
  ...SLURMRESTD_FIELDS,
  reuseConfig: z.boolean().default(true),
  idempotencyKey: IdempotencyKey,
})

/**
 * Adds an existing cluster, which is read at once and then periodically. Nothing is written on its machines.
 * @throws NotFound a node; Conflict the name is taken, another cluster has this controller, or the node accepts no connections
 */
export async function addSlurmCluster(ctx: Ctx, input: z.input<typeof AddSlurmClusterInput>): Promise<SlurmCluster> {
  authorize(ctx, slurmClusterPermissions.write)
  const { idempotencyKey, ...fields } = parseInput(AddSlurmClusterInput, input)
  return idempotent(
    ctx,
    { verb: 'addSlurmCluster', key: idempotencyKey, input: fields, result: oneRow(slurmClusters) },
    async (tx, ctx) => {
      const slurmrestd = await slurmrestdColumns(tx, ctx, fields)
      await checkControllers(tx, ctx, fields)
      await assertOwnControllers(tx, ctx, fields)
      const [cluster] = await tx
        .insert(slurmClusters)
        .values({ ...fields, ...slurmrestd, tenantId: ctx.tenantId, kind: 'EXTERNAL', ...createdBy(ctx) })
        .onConflictDoNothing()
        .returning()
      if (!cluster) throw await clusterConflict(tx, ctx, fields)
      await ctx.queue.send(tx, slurmRefreshQueue, [cluster])
      await audit(tx, ctx, slurmClusterAudit.add, cluster)
      ctx.notify(slurmClusterChanged(cluster))
      return cluster
    },
  )
}
