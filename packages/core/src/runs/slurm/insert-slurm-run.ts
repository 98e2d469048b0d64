import { authorizeSomewhere, type Ctx, type Tx } from '../../kernel/context.ts'
import type { LeanNode } from '../../nodes/tables.ts'
import { slurmNodePermissions } from '../../slurm-actions/index.ts'
import type { SkippedNode } from '../lifecycle/assert-runnable.ts'
import { insertRun } from '../lifecycle/insert-run.ts'
import { type JobRun, jobRunSlurmNodes } from '../tables.ts'
import type { SlurmRunOptions } from './options.ts'
import { findSlurmTargets } from './plan-slurm-run.ts'

const ROWS_PER_INSERT = 2000

/** @throws Forbidden when the caller may drain or resume no nodes of Slurm clusters. `findSlurmTargets` decides about those of a run. */
export function authorizeSlurmRun(ctx: Ctx): void {
  authorizeSomewhere(ctx, slurmNodePermissions.drain)
  authorizeSomewhere(ctx, slurmNodePermissions.resume)
}

/**
 * Inserts a run over batches of Slurm nodes. `advanceSlurmRun` drains each batch, starts a run on it, and resumes it.
 * @throws Forbidden the caller may not drain and resume the nodes; InvalidInput, Conflict nodes that cannot be drained
 */
export async function insertSlurmRun(
  tx: Tx,
  ctx: Ctx,
  settings: Parameters<typeof insertRun>[2],
  nodes: LeanNode[],
  options: SlurmRunOptions,
  skipped: SkippedNode[] = [],
): Promise<JobRun> {
  authorizeSlurmRun(ctx)
  // Of two starts at the same time, the second one finds the first: they wait for each other at the tenant's row.
  const { batchSize, deadlineSeconds, floorPercent, healthSeconds, includeReserved, maintenanceOnly } = options
  const { cluster } = (await findSlurmTargets(tx, ctx, nodes, options)).view
  const run = await insertRun(
    tx,
    ctx,
    {
      ...settings,
      slurm: {
        ...{ batchSize, deadlineSeconds, floorPercent, healthSeconds, includeReserved, maintenanceOnly },
        clusterId: cluster.id,
        clusterName: cluster.name,
        waitsFor: null,
      },
    },
    nodes,
    skipped,
  )
  // Again, because the run's number has serialized it with others of the tenant.
  const { hosts } = await findSlurmTargets(tx, ctx, nodes, options)
  for (let i = 0; i < hosts.length; i += ROWS_PER_INSERT)
    await tx.insert(jobRunSlurmNodes).values(
      hosts.slice(i, i + ROWS_PER_INSERT).map(({ name, node }) => ({
        tenantId: ctx.tenantId,
        jobRunId: run.id,
        clusterId: cluster.id,
        nodeId: node.id,
        name,
        host: node.name,
      })),
    )
  return run
}
