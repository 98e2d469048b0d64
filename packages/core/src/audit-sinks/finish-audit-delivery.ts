import { and, eq, sql } from 'drizzle-orm'
import { type DeliveryOutcome, retryMs } from '../alerts/index.ts'
import { auditPermissions } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import type { ClaimedSink } from './claim-audit-sink.ts'
import { auditSinks } from './tables.ts'

/** Maximum pause between attempts. Entries are never dropped. */
const MAX_PAUSE_MS = 5 * 60_000

/**
 * Records the outcome of an attempt (null: the receiver accepted everything) and releases the sink. Entries that were not accepted
 * are sent again later, and later entries wait, so that the order is kept.
 * @throws Forbidden when the caller is not a worker
 */
export async function finishAuditDelivery(ctx: Ctx, claimed: ClaimedSink, outcome: DeliveryOutcome): Promise<void> {
  authorize(ctx, auditPermissions.seal)
  const { sink, entries, leaseToken } = claimed
  const accepted = { attempts: 0, failingSince: null, lastError: null, retryAt: null }
  const failed = outcome && {
    failingSince: sql`coalesce(${auditSinks.failingSince}, now())`,
    lastError: outcome.error,
    retryAt: sql`now() + ${Math.min(Math.max(retryMs(sink.attempts), outcome.retryAfterMs ?? 0), MAX_PAUSE_MS)} * interval '1 millisecond'`,
  }
  const state = sink.testRequestedAt
    ? {
        testedAt: sql`now()`,
        testError: outcome?.error ?? null,
        testRequestedAt: null,
        // A failed test must not delay entries.
        ...(outcome ? {} : accepted),
      }
    : (failed ?? { ...accepted, deliveredSeq: entries.at(-1)!.seq, deliveredAt: sql`now()` })
  await inTransaction(ctx, (tx, ctx) =>
    tx
      .update(auditSinks)
      .set({ ...state, leasedUntil: null, leaseToken: null, updatedAt: sql`${auditSinks.updatedAt}` })
      // After the end of the lease, another worker may have claimed the sink.
      .where(and(visibleTo(ctx, auditSinks), eq(auditSinks.id, sink.id), eq(auditSinks.leaseToken, leaseToken))),
  )
}
