import { sql } from 'drizzle-orm'
import type { SystemCtx } from '../kernel/context.ts'
import { authorize } from '../kernel/context.ts'
import type { Observation } from '../kernel/finding.ts'
import { workerPermissions } from './permissions.ts'
import type { WorkerFacts } from './register-worker.ts'
import { workers } from './tables.ts'

const FORGET_AFTER_S = 24 * 3600

/**
 * Records a worker's sign of life, and deletes workers without one for a day.
 * @param worker all columns, so that a deleted row can be created again
 * @param drain the process received a signal to drain
 * @returns whether the worker is drained
 */
export async function recordWorkerLiveness(
  ctx: SystemCtx,
  worker: WorkerFacts & { id: string; running: number; findings?: Observation[] },
  { drain = false } = {},
): Promise<{ isDraining: boolean }> {
  authorize(ctx, workerPermissions.report)
  const [row] = await ctx.db
    .insert(workers)
    .values(worker)
    .onConflictDoUpdate({
      target: workers.id,
      set: {
        running: worker.running,
        ...(worker.findings ? { findings: worker.findings } : {}),
        lastSeenAt: sql`now()`,
        ...(drain
          ? {
              drainedAt: sql`coalesce(${workers.drainedAt}, now())`,
              drainedByName: sql`coalesce(${workers.drainedByName}, 'a signal')`,
            }
          : {}),
      },
    })
    .returning({ drainedAt: workers.drainedAt })
  await ctx.db.delete(workers).where(sql`${workers.lastSeenAt} < now() - make_interval(secs => ${FORGET_AFTER_S})`)
  return { isDraining: row!.drainedAt !== null }
}
