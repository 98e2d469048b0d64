import { and, isNotNull, isNull } from 'drizzle-orm'
import { authorize, type SystemCtx } from '../../kernel/context.ts'
import { jobRunPermissions } from '../permissions.ts'
import { jobRuns } from '../tables.ts'

/** Unfinished runs over batches of Slurm nodes, of all tenants. */
export async function findUnfinishedSlurmRuns(ctx: SystemCtx): Promise<{ id: string; tenantId: string }[]> {
  authorize(ctx, jobRunPermissions.report)
  return ctx.db
    .select({ id: jobRuns.id, tenantId: jobRuns.tenantId })
    .from(jobRuns)
    .where(and(isNull(jobRuns.finishedAt), isNotNull(jobRuns.slurm)))
    .orderBy(jobRuns.id)
}
