import { and, isNull, lt, or, sql } from 'drizzle-orm'
import { connectionTestChanged } from '../connections/change-events.ts'
import { connectionTests } from '../connections/tables.ts'
import type { SystemCtx } from '../kernel/context.ts'
import { authorize } from '../kernel/context.ts'
import { discoveryChanged } from './change-events.ts'
import { discoveryPermissions } from './permissions.ts'
import { discoveries } from './tables.ts'

/** Maximum duration of one test or discovery, and maximum time that one may wait for a worker. */
const RUNNING_S = 300
const WAITING_S = 3600

/**
 * Reconciler, over all tenants: fails connection tests and discoveries that no worker took, or that lost their worker.
 * @returns number of ended ones
 */
export async function failStalledWork(ctx: SystemCtx): Promise<number> {
  authorize(ctx, discoveryPermissions.report)
  const isStuck = (table: typeof connectionTests | typeof discoveries) =>
    and(
      isNull(table.finishedAt),
      or(
        lt(table.startedAt, sql`now() - make_interval(secs => ${RUNNING_S})`),
        and(isNull(table.startedAt), lt(table.createdAt, sql`now() - make_interval(secs => ${WAITING_S})`)),
      ),
    )
  const error = (startedAt: typeof connectionTests.startedAt | typeof discoveries.startedAt) =>
    sql`case when ${startedAt} is null then 'No worker took it within an hour; see that one is running, then try again.'
      else 'The worker was lost during this work. Start it again.' end`
  const tests = await ctx.db
    .update(connectionTests)
    .set({ isOk: false, error: error(connectionTests.startedAt), finishedAt: sql`now()` })
    .where(isStuck(connectionTests))
    .returning({ id: connectionTests.id, tenantId: connectionTests.tenantId })
  const looks = await ctx.db
    .update(discoveries)
    .set({ error: error(discoveries.startedAt), finishedAt: sql`now()` })
    .where(isStuck(discoveries))
    .returning({ id: discoveries.id, tenantId: discoveries.tenantId })
  for (const row of tests) ctx.notify(connectionTestChanged(row))
  for (const row of looks) ctx.notify(discoveryChanged(row))
  return tests.length + looks.length
}
