import { sql } from 'drizzle-orm'
import { authorize, type SystemCtx } from '../kernel/context.ts'
import { isStalled, stalledReason } from '../kernel/db/stalled.ts'
import { slurmClusterTestChanged } from './change-events.ts'
import { slurmClusterPermissions } from './permissions.ts'
import { slurmClusterTests } from './tables.ts'

/** Longer than all deadlines of a test together. */
const RUNNING_S = 600

/** Reconciler, over all tenants: fails tests of controllers that no worker took, or that lost their worker. @returns their number */
export async function failStalledSlurmTests(ctx: SystemCtx): Promise<number> {
  authorize(ctx, slurmClusterPermissions.schedule)
  const tests = await ctx.db
    .update(slurmClusterTests)
    .set({ isOk: false, error: stalledReason(slurmClusterTests, 'the test'), finishedAt: sql`now()` })
    .where(isStalled(slurmClusterTests, RUNNING_S))
    .returning({ id: slurmClusterTests.id, tenantId: slurmClusterTests.tenantId })
  for (const test of tests) ctx.notify(slurmClusterTestChanged(test))
  return tests.length
}
