import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { authorizeCluster } from '../clusters/index.ts'
import { slurmClusters } from '../clusters/tables.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorize, authorizeSomewhere, type Ctx } from '../kernel/context.ts'
import { Conflict, parseInput } from '../kernel/errors.ts'
import { Id, Ids, singleLineText } from '../kernel/input.ts'
import { findNodes } from '../selection/index.ts'
import { insertOperation, type SlurmOperation } from '../slurm-operations/index.ts'
import { slurmOperations } from '../slurm-operations/tables.ts'
import { configHosts, findCluster } from './find-cluster.ts'
import { slurmConfigPermissions } from './permissions.ts'
import { managedConfigReason } from './policy.ts'
import { newestConfigVersion } from './versions.ts'

export const ImportSlurmConfigInput = z.object({
  clusterId: Id,
  /** Nodes besides the controllers that have files of their own. Default: those of the last import. */
  nodeIds: Ids.nullish(),
  reason: singleLineText(200),
  idempotencyKey: IdempotencyKey,
})

/**
 * Starts an operation that reads the configuration from the hosts of a cluster and stores it as the next version. Nothing is written on
 * the hosts, so reused configurations can be imported, too.
 * @throws Forbidden; NotFound the cluster or a node; Conflict an operation runs on the cluster
 */
export async function importSlurmConfig(ctx: Ctx, input: z.input<typeof ImportSlurmConfigInput>): Promise<SlurmOperation> {
  authorizeSomewhere(ctx, slurmConfigPermissions.write)
  const { idempotencyKey, clusterId, nodeIds, reason } = parseInput(ImportSlurmConfigInput, input)
  const key = {
    verb: 'importSlurmConfig',
    key: idempotencyKey,
    input: { clusterId, nodeIds, reason },
    result: oneRow(slurmOperations),
  }
  return idempotent(ctx, key, async (tx, ctx) => {
    const before = await findCluster(tx, ctx, clusterId)
    authorizeCluster(ctx, slurmConfigPermissions.write, before)
    // A grant for a cluster gives no access to further machines.
    if (nodeIds) authorize(ctx, slurmConfigPermissions.write)
    const blockedReason = managedConfigReason(before)
    if (blockedReason) throw new Conflict(blockedReason)
    await findNodes(ctx, nodeIds ?? [], tx)
    const [cluster] = await tx
      .update(slurmClusters)
      .set({ configNodeIds: nodeIds ?? before.configNodeIds })
      .where(eq(slurmClusters.id, clusterId))
      .returning()
    const newest = await newestConfigVersion(tx, clusterId)
    return insertOperation(tx, ctx, {
      clusterId,
      kind: 'CONFIGURE',
      input: { action: 'IMPORT', basedOn: newest?.number ?? null },
      plan: {},
      reason,
      nodes: await configHosts(tx, ctx, cluster!, slurmConfigPermissions.write),
    })
  })
}
