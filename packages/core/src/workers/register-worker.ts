import type { SystemCtx } from '../kernel/context.ts'
import { authorize } from '../kernel/context.ts'
import { workerPermissions } from './permissions.ts'
import { workers } from './tables.ts'

/** Properties that a worker process reports about itself. */
export type WorkerFacts = Pick<
  typeof workers.$inferInsert,
  'name' | 'host' | 'pid' | 'version' | 'ansibleVersion' | 'isolation' | 'isolationWeakness' | 'concurrency'
>

/** Registers a worker process. @returns its id */
export async function registerWorker(ctx: SystemCtx, worker: WorkerFacts): Promise<string> {
  authorize(ctx, workerPermissions.report)
  const [row] = await ctx.db.insert(workers).values(worker).returning({ id: workers.id })
  return row!.id
}
