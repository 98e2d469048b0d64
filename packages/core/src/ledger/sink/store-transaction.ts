import { and, eq } from 'drizzle-orm'
import { authorize, type Ctx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { ledgerPermissions } from '../permissions.ts'
import { ledgerSinks } from '../tables.ts'
import type { ClaimedLedgerSink } from './claim-ledger-sink.ts'

/** A signed transaction; null: none is pending any more, because the chain can never include it. */
export type SignedTransaction = { bytes: Uint8Array; sequence: number; address: string }

/**
 * Stores a transaction before it is sent, or discards the pending one.
 * @returns false when the claim was lost: then nothing may be sent
 */
export async function storeLedgerTransaction(
  ctx: Ctx,
  { sink, leaseToken, size }: ClaimedLedgerSink,
  transaction: SignedTransaction | null,
): Promise<boolean> {
  authorize(ctx, ledgerPermissions.record)
  const stored = await ctx.db
    .update(ledgerSinks)
    .set({
      pendingTransaction: transaction && Buffer.from(transaction.bytes).toString('base64'),
      pendingSequence: transaction?.sequence ?? null,
      pendingSize: transaction ? size : null,
      ...(transaction ? { address: transaction.address } : {}),
    })
    .where(and(visibleTo(ctx, ledgerSinks), eq(ledgerSinks.id, sink.id), eq(ledgerSinks.leaseToken, leaseToken)))
    .returning({ id: ledgerSinks.id })
  return stored.length > 0
}
