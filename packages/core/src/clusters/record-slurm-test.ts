import { and, eq, isNull, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import { slurmClusterTestChanged } from './change-events.ts'
import { slurmClusterPermissions } from './permissions.ts'
import { type QueryReport, type SlurmClusterTest, slurmClusterTests } from './tables.ts'

const unfinished = (ctx: Ctx, id: string) =>
  and(visibleTo(ctx, slurmClusterTests), eq(slurmClusterTests.id, id), isNull(slurmClusterTests.finishedAt))

/** Claims a test. @returns null when another worker has it, or it ended */
export async function startSlurmTest(ctx: Ctx, { id }: { id: string }): Promise<SlurmClusterTest | null> {
  authorize(ctx, slurmClusterPermissions.report)
  const [test] = await ctx.db
    .update(slurmClusterTests)
    .set({ startedAt: sql`now()` })
    .where(and(unfinished(ctx, id), isNull(slurmClusterTests.startedAt)))
    .returning()
  if (test) ctx.notify(slurmClusterTestChanged(test))
  return test ?? null
}

/** Stores the commands so far of a running test; no effect when it has finished. */
export async function recordSlurmTestQueries(ctx: Ctx, { id, queries }: { id: string; queries: QueryReport[] }): Promise<void> {
  authorize(ctx, slurmClusterPermissions.report)
  await ctx.db
    .update(slurmClusterTests)
    .set({ queries: sanitizeForPostgres(queries) })
    .where(unfinished(ctx, id))
  ctx.notify(slurmClusterTestChanged({ id, tenantId: ctx.tenantId }))
}

/** Ends a test. @param error for the operator; null when the cluster could be read */
export async function finishSlurmTest(
  ctx: Ctx,
  { id, ...result }: { id: string } & Pick<SlurmClusterTest, 'queries' | 'preview' | 'error'>,
): Promise<void> {
  authorize(ctx, slurmClusterPermissions.report)
  const { error, ...rest } = sanitizeForPostgres(result)
  await ctx.db
    .update(slurmClusterTests)
    .set({ ...rest, error, isOk: error === null, finishedAt: sql`now()` })
    .where(unfinished(ctx, id))
  ctx.notify(slurmClusterTestChanged({ id, tenantId: ctx.tenantId }))
}
