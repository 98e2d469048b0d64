import { sql } from 'drizzle-orm'
import { connectionTestChanged } from '../connections/change-events.ts'
import { connectionTests } from '../connections/tables.ts'
import type { SystemCtx } from '../kernel/context.ts'
import { authorize } from '../kernel/context.ts'
import { isStalled, stalledReason } from '../kernel/db/stalled.ts'
import { discoveryChanged } from './change-events.ts'
import { discoveryPermissions } from './permissions.ts'
import { discoveries } from './tables.ts'

/** Maximum duration of one test or discovery. */
const RUNNING_S = 300

/**
 * Reconciler, over all tenants: fails connection tests and discoveries that no worker took, or that lost their worker.
 * @returns number of ended ones
 */
export async function failStalledWork(ctx: SystemCtx): Promise<number> {
  authorize(ctx, discoveryPermissions.report)
  const tests = await ctx.db
    .update(connectionTests)
    .set({ isOk: false, error: stalledReason(connectionTests, 'the test'), finishedAt: sql`now()` })
    .where(isStalled(connectionTests, RUNNING_S))
    .returning({ id: connectionTests.id, tenantId: connectionTests.tenantId })
  const looks = await ctx.db
    .update(discoveries)
    .set({ error: stalledReason(discoveries, 'the discovery'), finishedAt: sql`now()` })
    .where(isStalled(discoveries, RUNNING_S))
    .returning({ id: discoveries.id, tenantId: discoveries.tenantId })
  for (const row of tests) ctx.notify(connectionTestChanged(row))
  for (const row of looks) ctx.notify(discoveryChanged(row))
  return tests.length + looks.length
}
