import { eq } from 'drizzle-orm'
import type { SystemCtx } from '../kernel/context.ts'
import { authorize } from '../kernel/context.ts'
import { workerPermissions } from './permissions.ts'
import { workers } from './tables.ts'

/** Deletes the row of a worker process that exits. */
export async function endWorker(ctx: SystemCtx, id: string): Promise<void> {
  authorize(ctx, workerPermissions.report)
  await ctx.db.delete(workers).where(eq(workers.id, id))
}
