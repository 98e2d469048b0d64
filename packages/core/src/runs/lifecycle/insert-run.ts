import { eq, sql } from 'drizzle-orm'
import { tenants } from '../../access/tables.ts'
import { type Ctx, createdBy, type Tx } from '../../kernel/context.ts'
import type { LeanNode } from '../../nodes/tables.ts'
import { enqueueForLocks } from '../../run-queue/index.ts'
import { jobRunQueue } from '../queues.ts'
import { type JobRun, jobRunHosts, jobRuns } from '../tables.ts'

const HOSTS_PER_INSERT = 5000

type Settings = Omit<
  typeof jobRuns.$inferInsert,
  'id' | 'tenantId' | 'number' | 'createdById' | 'createdByName' | 'hostsTotal' | 'workerSeenAt'
> &
  Partial<ReturnType<typeof createdBy>>

/**
 * Inserts a run with its hosts and triggers a worker. Requests the locks of its nodes if the run changes them. Takes the number
 * from the tenant's row, which stays locked until the transaction ends, so that numbers are unique.
 */
export async function insertRun(tx: Tx, ctx: Ctx, settings: Settings, nodes: Pick<LeanNode, 'id' | 'name'>[]): Promise<JobRun> {
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
      hostsTotal: nodes.length,
      workerSeenAt: sql`now()`,
      ...(settings.slurm ? { startedAt: sql`now()` } : {}),
    })
    .returning()
  const run = rows[0]!
  for (let i = 0; i < nodes.length; i += HOSTS_PER_INSERT)
    await tx
      .insert(jobRunHosts)
      .values(nodes.slice(i, i + HOSTS_PER_INSERT).map((node) => ({ jobRunId: run.id, nodeId: node.id, name: node.name })))
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
