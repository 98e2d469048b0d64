import { z } from 'zod'
import { authorizeCluster } from '../clusters/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorizeSomewhere, type Ctx } from '../kernel/context.ts'
import { Conflict, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { insertOperation, type SlurmOperation } from '../slurm-operations/index.ts'
import { slurmOperations } from '../slurm-operations/tables.ts'
import { configHosts, findCluster } from './find-cluster.ts'
import { slurmConfigPermissions } from './permissions.ts'
import { noConfigReason } from './policy.ts'

export const CheckSlurmConfigDriftInput = z.object({ clusterId: Id, idempotencyKey: IdempotencyKey })

/**
 * Starts an operation that compares the files of each host with the version that was rolled out. It changes nothing.
 * @throws Forbidden; NotFound; Conflict there is nothing to compare with, or an operation runs on the cluster
 */
export async function checkSlurmConfigDrift(
  ctx: Ctx,
  input: z.input<typeof CheckSlurmConfigDriftInput>,
): Promise<SlurmOperation> {
  authorizeSomewhere(ctx, slurmConfigPermissions.check)
  const { clusterId, idempotencyKey } = parseInput(CheckSlurmConfigDriftInput, input)
  const key = { verb: 'checkSlurmConfigDrift', key: idempotencyKey, input: { clusterId }, result: oneRow(slurmOperations) }
  return idempotent(ctx, key, async (tx, ctx) => {
    const cluster = await findCluster(tx, ctx, clusterId)
    authorizeCluster(ctx, slurmConfigPermissions.check, cluster)
    const blockedReason = noConfigReason(cluster)
    if (blockedReason) throw new Conflict(blockedReason)
    return insertOperation(tx, ctx, {
      clusterId,
      kind: 'CONFIGURE',
      input: { action: 'CHECK', from: cluster.configNumber },
      plan: {},
      reason: 'compare the configuration',
      nodes: await configHosts(tx, ctx, cluster, slurmConfigPermissions.check),
    })
  })
}
