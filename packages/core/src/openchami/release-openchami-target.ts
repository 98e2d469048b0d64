import { and, eq, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import type { ClaimedTarget } from './claim-openchami-target.ts'
import { openchamiPermissions } from './permissions.ts'
import { openchamiTargets } from './tables.ts'

/** Releases a target without a result, so that the check continues at once, here or in another worker. */
export async function releaseOpenchamiTarget(ctx: Ctx, { target, leaseToken }: ClaimedTarget): Promise<void> {
  authorize(ctx, openchamiPermissions.report)
  await ctx.db
    .update(openchamiTargets)
    .set({ leasedUntil: null, leaseToken: null, updatedAt: sql`${openchamiTargets.updatedAt}` })
    .where(and(visibleTo(ctx, openchamiTargets), eq(openchamiTargets.id, target.id), eq(openchamiTargets.leaseToken, leaseToken)))
}
