import { and, eq, sql } from 'drizzle-orm'
import { type DeliveryOutcome, retryMs } from '../../alerts/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { ledgerPermissions } from '../permissions.ts'
import { ledgerReceipts, ledgerSinks } from '../tables.ts'
import type { ClaimedLedgerSink } from './claim-ledger-sink.ts'

/** Maximum pause between attempts. Entries are never dropped. */
const MAX_PAUSE_MS = 5 * 60_000

export type Receipt = { transactionHash: string; height: number }

/** Records the outcome of an attempt and releases the sink: a receipt, or the reason why the entries are sent again later. */
export async function finishLedgerDelivery(
  ctx: Ctx,
  { sink, leaseToken, size }: ClaimedLedgerSink,
  result: Receipt | NonNullable<DeliveryOutcome>,
): Promise<void> {
  authorize(ctx, ledgerPermissions.record)
  await inTransaction(ctx, async (tx, ctx) => {
    const pause = 'error' in result ? Math.min(Math.max(retryMs(sink.attempts), result.retryAfterMs ?? 0), MAX_PAUSE_MS) : 0
    const [released] = await tx
      .update(ledgerSinks)
      .set({
        leasedUntil: null,
        leaseToken: null,
        updatedAt: sql`${ledgerSinks.updatedAt}`,
        ...('error' in result
          ? {
              failingSince: sql`coalesce(${ledgerSinks.failingSince}, now())`,
              lastError: result.error,
              // An administrator has to look at it: repeating costs fees.
              ...(result.isFinal ? { isEnabled: false } : {}),
              retryAt: sql`now() + ${pause} * interval '1 millisecond'`,
            }
          : {
              ...{ attempts: 0, failingSince: null, lastError: null, retryAt: null },
              ...{ pendingTransaction: null, pendingSequence: null, pendingSize: null },
              ...{ deliveredSize: size, deliveredAt: sql`now()` },
            }),
      })
      // After the end of the lease, another worker may have claimed the sink.
      .where(and(visibleTo(ctx, ledgerSinks), eq(ledgerSinks.id, sink.id), eq(ledgerSinks.leaseToken, leaseToken)))
      .returning({ id: ledgerSinks.id })
    if (released && !('error' in result))
      await tx
        .insert(ledgerReceipts)
        .values({ tenantId: ctx.tenantId, sinkId: sink.id, ...result, fromSize: sink.deliveredSize, toSize: size })
  })
}
