import { eq, sql } from 'drizzle-orm'
import { tenants } from '../../access/tables.ts'
import { type Ctx, createdBy, type Tx } from '../../kernel/context.ts'
import type { LeanNode } from '../../nodes/tables.ts'
import { enqueueForLocks } from '../../run-queue/index.ts'
import { jobRunQueue } from '../queues.ts'
import { type JobRun, jobRunHosts, jobRuns } from '../tables.ts'
import type { SkippedNode } from './assert-runnable.ts'

const HOSTS_PER_INSERT = 5000

type Settings = Omit<
  typeof jobRuns.$inferInsert,
  'id' | 'tenantId' | 'number' | 'createdById' | 'createdByName' | 'hostsTotal' | 'workerSeenAt'
> &
  Partial<ReturnType<typeof createdBy>>

/**
 * Inserts a run with its hosts and triggers a worker. Requests the locks of its nodes if the run changes them. Takes the number
 * from the tenant's row, which stays locked until the transaction ends, so that numbers are unique.
 * @param skipped nodes that the run leaves out; they are shown with it
 */
export async function insertRun(
  tx: Tx,
  ctx: Ctx,
  settings: Settings,
  nodes: Pick<LeanNode, 'id' | 'name'>[],
  skipped: SkippedNode[] = [],
): Promise<JobRun> {
  const [tenant] = await tx
    .update(tenants)
    .set({ lastRunNumber: sql`${tenants.lastRunNumber} + 1` })
    .where(eq(tenants.id, ctx.tenantId))
    .returning({ number: tenants.lastRunNumber })
  const rows = await tx
    .insert(jobRuns)
    .values({
      ...createdBy(ctx),
      ...settings,
      tenantId: ctx.tenantId,
      number: tenant!.number,
      hostsTotal: nodes.length + skipped.length,
      hostsOffline: skipped.length,
      workerSeenAt: sql`now()`,
      ...(settings.slurm ? { startedAt: sql`now()` } : {}),
    })
    .returning()
  const run = rows[0]!
  const hosts: (typeof jobRunHosts.$inferInsert)[] = [
    ...nodes.map(({ id: nodeId, name }) => ({ jobRunId: run.id, nodeId, name })),
    ...skipped.map(({ node: { id: nodeId, name }, reason: message }) => {
      return { jobRunId: run.id, nodeId, name, message, result: 'OFFLINE' as const }
    }),
  ]
  for (let i = 0; i < hosts.length; i += HOSTS_PER_INSERT)
    await tx.insert(jobRunHosts).values(hosts.slice(i, i + HOSTS_PER_INSERT))
  // No worker claims it: `advanceSlurmRun` starts a run for each of its batches, and those lock the nodes.
  if (run.slurm) return run
  if (!run.isReadOnly)
    await enqueueForLocks(
      tx,
      run.id,
      nodes.map((node) => node.id),
    )
  await ctx.queue.send(tx, jobRunQueue, [{ id: run.id, tenantId: ctx.tenantId }])
  return run
}
