import { hasEnded } from '@muster/slurm'
import { and, eq, isNotNull, ne, sql } from 'drizzle-orm'
import { slurmJobs, slurmNodes } from '../clusters/tables.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { nodeLocks } from '../run-queue/tables.ts'
import { jobRuns } from '../runs/tables.ts'
import type { PowerAction } from './tables.ts'

/** Whether an action interrupts what runs on a node. */
export const isDisruptive = (action: PowerAction): boolean => action !== 'ON' && action !== 'BOOT_ONCE'

const SHOWN_JOBS = 5

/**
 * Why nodes must not be stopped, by node ID: SlurmJobs that ran on them at the last refresh of their cluster, and runs that hold their
 * locks. Nodes without a reason are missing.
 * @param slurmClusterId cluster of the requesting slurmctld, which knows its jobs better than the last refresh
 */
export async function protectionsOf(
  db: Db | Tx,
  ctx: Ctx,
  nodeIds: readonly string[],
  slurmClusterId: string | null = null,
): Promise<Map<string, string>> {
  const jobs = await db
    .select({ nodeId: slurmNodes.nodeId, jobId: slurmJobs.jobId, state: slurmJobs.state })
    .from(slurmNodes)
    .innerJoin(
      slurmJobs,
      and(eq(slurmJobs.clusterId, slurmNodes.clusterId), sql`${slurmJobs.nodeNames} @> array[${slurmNodes.name}]`),
    )
    .where(
      and(
        visibleTo(ctx, slurmNodes),
        isOneOf(slurmNodes.nodeId, [...nodeIds]),
        ne(slurmJobs.state, 'PENDING'),
        slurmClusterId ? ne(slurmNodes.clusterId, slurmClusterId) : undefined,
      ),
    )
    .orderBy(slurmJobs.id)
  const locks = await db
    .select({ nodeId: nodeLocks.nodeId, number: jobRuns.number, template: jobRuns.templateName })
    .from(nodeLocks)
    .innerJoin(jobRuns, eq(jobRuns.id, nodeLocks.jobRunId))
    .where(and(visibleTo(ctx, jobRuns), isOneOf(nodeLocks.nodeId, [...nodeIds]), isNotNull(nodeLocks.acquiredAt)))
  const running = Map.groupBy(
    jobs.filter(({ state }) => !hasEnded({ states: [state] })),
    ({ nodeId }) => nodeId!,
  )
  const lockOf = new Map(locks.map((lock) => [lock.nodeId, lock]))
  return new Map(
    nodeIds.flatMap((id): [string, string][] => {
      const ids = running.get(id)?.map(({ jobId }) => jobId) ?? []
      const lock = lockOf.get(id)
      const more = ids.length > SHOWN_JOBS ? ` and ${ids.length - SHOWN_JOBS} more` : ''
      const reasons = [
        ...(ids.length > 0 ? [`it runs the SlurmJobs ${ids.slice(0, SHOWN_JOBS).join(', ')}${more}`] : []),
        ...(lock ? [`run ${lock.number} (${lock.template}) holds its lock`] : []),
      ]
      return reasons.length > 0 ? [[id, reasons.join(', and ')]] : []
    }),
  )
}
