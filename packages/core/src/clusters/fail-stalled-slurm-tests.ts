import { and, isNull, lt, or, sql } from 'drizzle-orm'
import { authorize, type SystemCtx } from '../kernel/context.ts'
import { slurmClusterTestChanged } from './change-events.ts'
import { slurmClusterPermissions } from './permissions.ts'
import { slurmClusterTests } from './tables.ts'

/** Longer than all deadlines of a test together, and the time that a test may wait for a worker. */
const RUNNING_S = 600
const WAITING_S = 3600

/** Reconciler, over all tenants: fails tests of controllers that no worker took, or that lost their worker. @returns their number */
export async function failStalledSlurmTests(ctx: SystemCtx): Promise<number> {
  authorize(ctx, slurmClusterPermissions.schedule)
  const { startedAt, createdAt, finishedAt } = slurmClusterTests
  const tests = await ctx.db
    .update(slurmClusterTests)
    .set({
      isOk: false,
      error: sql`case when ${startedAt} is null then 'No worker started the test within an hour. Check that a worker runs, then test again.'
        else 'The worker was lost during the test. Test again.' end`,
      finishedAt: sql`now()`,
    })
    .where(
      and(
        isNull(finishedAt),
        or(
          lt(startedAt, sql`now() - make_interval(secs => ${RUNNING_S})`),
          and(isNull(startedAt), lt(createdAt, sql`now() - make_interval(secs => ${WAITING_S})`)),
        ),
      ),
    )
    .returning({ id: slurmClusterTests.id, tenantId: slurmClusterTests.tenantId })
  for (const test of tests) ctx.notify(slurmClusterTestChanged(test))
  return tests.length
}
