import { coverRange, foldRange, type Range, type SubtreeRef } from '@muster/ledger'
import { desc, eq, sql } from 'drizzle-orm'
import type { Tx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { type LedgerCheckpoint, ledgerCheckpoints, ledgerHashes } from './tables.ts'

/** The hashes of complete subtrees, in the order of `refs`. @throws Error when one is missing: the tree is damaged */
export async function hashesOf(db: Db | Tx, tenantId: string, refs: SubtreeRef[]): Promise<Buffer[]> {
  if (refs.length === 0) return []
  const rows = await db
    .select({ level: ledgerHashes.level, index: ledgerHashes.index, hash: ledgerHashes.hash })
    .from(ledgerHashes)
    .where(
      sql`${ledgerHashes.tenantId} = ${tenantId} and (${ledgerHashes.level}, ${ledgerHashes.index}) in (
        select * from unnest(${sql.param(refs.map(({ level }) => level))}::int[], ${sql.param(refs.map(({ index }) => index))}::bigint[]))`,
    )
  const found = new Map(rows.map(({ level, index, hash }) => [`${level} ${index}`, hash]))
  return refs.map(({ level, index }) => {
    const hash = found.get(`${level} ${index}`)
    if (!hash) throw new Error(`the ledger of the tenant ${tenantId} lacks the hash ${index} of level ${level}`)
    return hash
  })
}

/** The hashes of ranges of a tree, such as those of a proof. */
export async function rangeHashes(db: Db | Tx, tenantId: string, ranges: Range[]): Promise<Buffer[]> {
  const covers = ranges.map(coverRange)
  const hashes = await hashesOf(db, tenantId, covers.flat())
  let at = 0
  return covers.map(({ length }) => {
    at += length
    return foldRange(hashes.slice(at - length, at))
  })
}

/** The newest signed tree head of a tenant; undefined before the first batch. */
export async function newestCheckpoint(db: Db | Tx, tenantId: string): Promise<LedgerCheckpoint | undefined> {
  const [row] = await db
    .select()
    .from(ledgerCheckpoints)
    .where(eq(ledgerCheckpoints.tenantId, tenantId))
    .orderBy(desc(ledgerCheckpoints.size))
    .limit(1)
  return row
}
