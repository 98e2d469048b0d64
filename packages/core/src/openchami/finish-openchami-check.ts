import { and, eq, sql } from 'drizzle-orm'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { openchamiTargetChanged } from './change-events.ts'
import type { ClaimedTarget } from './claim-openchami-target.ts'
import type { Difference } from './objects.ts'
import { openchamiPermissions } from './permissions.ts'
import { openchamiTargets } from './tables.ts'
import { updateTargetAlert } from './target-alert.ts'

/** As many differences are stored. */
export const MAX_DIFFERENCES = 1000

/** What a check found: the differences that are left, and how many objects it wrote; or why it failed. */
export type CheckOutcome = { differences: Difference[]; written: number } | { error: string; written: number }

/**
 * Records the result of a check and releases the target. After a failure the last differences stay. Raises an alert when objects are
 * missing or different, or checks keep failing, and resolves it when none is.
 * @throws Forbidden when the caller is not a worker
 */
export async function finishOpenchamiCheck(
  ctx: Ctx,
  { target, leaseToken }: ClaimedTarget,
  outcome: CheckOutcome,
): Promise<void> {
  authorize(ctx, openchamiPermissions.report)
  const t = openchamiTargets
  const drift = 'differences' in outcome ? outcome.differences.filter(({ state }) => state !== 'EXTRA') : []
  const found =
    'error' in outcome
      ? { error: outcome.error, failingSince: sql`coalesce(${t.failingSince}, now())` }
      : {
          error: null,
          failingSince: null,
          differences: outcome.differences.slice(0, MAX_DIFFERENCES),
          differenceCount: outcome.differences.length,
          driftSince: drift.length > 0 ? sql`coalesce(${t.driftSince}, now())` : null,
        }
  // A check that was requested meanwhile still has to be made. JavaScript knows milliseconds only.
  const isAnswered = sql`date_trunc('milliseconds', ${t.requestedAt}) is not distinct from ${target.requestedAt?.toISOString() ?? null}::timestamptz`
  await inTransaction(ctx, async (tx, ctx) => {
    const rows = await tx
      .update(t)
      .set({
        ...found,
        ...(outcome.written > 0 ? { pushedAt: sql`now()`, pushedCount: outcome.written } : {}),
        checkedAt: sql`now()`,
        requestedAt: sql`case when ${isAnswered} then null else ${t.requestedAt} end`,
        requestedMode: sql`case when ${isAnswered} then null else ${t.requestedMode} end`,
        leasedUntil: null,
        leaseToken: null,
        updatedAt: sql`${t.updatedAt}`,
      })
      // After the end of the lease, or a change of the target, the result is not that of the target.
      .where(and(visibleTo(ctx, t), eq(t.id, target.id), eq(t.leaseToken, leaseToken)))
      .returning({ id: t.id })
    if (rows.length === 0) return
    ctx.notify(openchamiTargetChanged({ id: target.id, tenantId: ctx.tenantId }))
    await updateTargetAlert(tx, ctx, target, 'error' in outcome ? outcome.error : null, drift)
  })
}
