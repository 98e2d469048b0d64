import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { NotFound } from '../../kernel/errors.ts'
import { ledgerSinkAudit } from '../audit-actions.ts'
import { ledgerPermissions } from '../permissions.ts'
import { ledgerSinks } from '../tables.ts'

/** Removes the sink of the ledger with its receipts. A transaction that was already sent can still be included. @throws NotFound */
export async function removeLedgerSink(ctx: Ctx): Promise<void> {
  authorize(ctx, ledgerPermissions.write)
  await inTransaction(ctx, async (tx, ctx) => {
    const [sink] = await tx.delete(ledgerSinks).where(visibleTo(ctx, ledgerSinks)).returning()
    if (!sink) throw new NotFound('The ledger has no sink.')
    await audit(tx, ctx, ledgerSinkAudit.remove, sink)
  })
}
