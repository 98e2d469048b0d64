import { consistencyRanges, inclusionRanges } from '@muster/ledger'
import { and, eq } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { InvalidInput, NotFound } from '../kernel/errors.ts'
import { ledgerPermissions } from './permissions.ts'
import { ledgerCheckpoints } from './tables.ts'
import { newestCheckpoint, rangeHashes } from './tree.ts'

/** A proof against the checkpoint of `size` entries. */
export type LedgerProof = { size: number; checkpoint: string; hashes: Buffer[] }

/** The checkpoint of `size`, or the newest one. @throws NotFound when there is none */
async function checkpointOf({ db, tenantId }: Ctx, size: number | null | undefined) {
  if (size == null) {
    const newest = await newestCheckpoint(db, tenantId)
    if (!newest) throw new NotFound('The ledger has no entries yet.')
    return newest
  }
  const [row] = await db
    .select()
    .from(ledgerCheckpoints)
    .where(and(eq(ledgerCheckpoints.tenantId, tenantId), eq(ledgerCheckpoints.size, size)))
  if (!row) throw new NotFound(`The ledger has no checkpoint of ${size} entries.`)
  return row
}

/**
 * Proves that the tree of a checkpoint has the entry at `seq`: the hashes of RFC 6962, section 2.1.1.
 * @param size of the checkpoint; null: the newest one
 * @throws NotFound without such a checkpoint, InvalidInput when the entry is not in its tree
 */
export async function proveLedgerEntry(ctx: Ctx, seq: number, size?: number | null): Promise<LedgerProof> {
  authorize(ctx, ledgerPermissions.read)
  const checkpoint = await checkpointOf(ctx, size)
  if (seq < 0 || seq >= checkpoint.size)
    throw new InvalidInput([{ path: 'seq', message: `must be 0 to ${checkpoint.size - 1}, the entries of this checkpoint` }])
  const hashes = await rangeHashes(ctx.db, ctx.tenantId, inclusionRanges(seq, checkpoint.size))
  return { size: checkpoint.size, checkpoint: checkpoint.note, hashes }
}

/**
 * Proves that a checkpoint continues an earlier tree: the hashes of RFC 6962, section 2.1.2.
 * @param size of the later checkpoint; null: the newest one
 * @throws NotFound without such a checkpoint, InvalidInput when the earlier tree is not smaller
 */
export async function proveLedgerConsistency(ctx: Ctx, oldSize: number, size?: number | null): Promise<LedgerProof> {
  authorize(ctx, ledgerPermissions.read)
  const checkpoint = await checkpointOf(ctx, size)
  if (oldSize < 1 || oldSize > checkpoint.size)
    throw new InvalidInput([{ path: 'oldSize', message: `must be 1 to ${checkpoint.size}, the size of the later checkpoint` }])
  const hashes = await rangeHashes(ctx.db, ctx.tenantId, consistencyRanges(oldSize, checkpoint.size))
  return { size: checkpoint.size, checkpoint: checkpoint.note, hashes }
}
