import { and, arrayOverlaps, eq } from 'drizzle-orm'
import { slurmNodes } from '../clusters/tables.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { insertPowerRun } from '../power/index.ts'
import { lockCluster } from '../slurm-operations/index.ts'
import { memberNodes } from './member-nodes.ts'
import { slurmPowerPermissions } from './permissions.ts'
import { slurmPowerRequests } from './tables.ts'

const PARALLELISM = 10
const DELAY_SECONDS = 1

/**
 * Starts a power run for the nodes that slurmctld has suspended: it resumes none after power saving ends.
 * @returns names of the nodes in Slurm
 */
export async function powerOnSuspended(
  ctx: Ctx,
  { clusterId, reason }: { clusterId: string; reason: string },
): Promise<string[]> {
  authorize(ctx, slurmPowerPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const cluster = await lockCluster(tx, ctx, clusterId)
    const suspended = await tx
      .select({ name: slurmPowerRequests.name })
      .from(slurmPowerRequests)
      .where(
        and(
          visibleTo(ctx, slurmPowerRequests),
          eq(slurmPowerRequests.clusterId, clusterId),
          eq(slurmPowerRequests.verb, 'SUSPEND'),
        ),
      )
    const reported = await tx
      .select({ name: slurmNodes.name })
      .from(slurmNodes)
      .where(
        and(
          visibleTo(ctx, slurmNodes),
          eq(slurmNodes.clusterId, clusterId),
          arrayOverlaps(slurmNodes.states, ['POWERED_DOWN', 'POWERING_DOWN']),
        ),
      )
    const names = [...new Set([...suspended, ...reported].map(({ name }) => name))]
    const members = [...(await memberNodes(tx, ctx, cluster, names))]
    const found = members.flatMap(([name, node]) => (typeof node === 'string' ? [] : [{ name, node }]))
    if (found.length === 0) return []
    const columns = {
      action: 'ON' as const,
      bootDevice: null,
      isForced: false,
      parallelism: PARALLELISM,
      delaySeconds: DELAY_SECONDS,
    }
    await insertPowerRun(tx, ctx, { ...columns, slurmClusterId: clusterId, reason, nodes: found.map(({ node }) => node) })
    return found.map(({ name }) => name)
  })
}
