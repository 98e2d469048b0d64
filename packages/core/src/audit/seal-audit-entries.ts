import { and, asc, desc, isNull, sql } from 'drizzle-orm'
import type { SystemCtx, Tx } from '../kernel/context.ts'
import { authorize } from '../kernel/context.ts'
import { isTransientDbError } from '../kernel/retry-transient.ts'
import { CHAIN_COLUMNS, type ChainRow, chainHash, GENESIS, signCheckpoint } from './chain.ts'
import { auditPermissions } from './permissions.ts'
import { auditCheckpoints, auditEntries } from './tables.ts'

/** Rows per transaction. */
const BATCH = 1000

/** Condition: the row belongs to the chain of this tenant, or of the installation (null). */
export const inChain = (table: typeof auditEntries | typeof auditCheckpoints, tenantId: string | null) =>
  tenantId === null ? isNull(table.tenantId) : sql`${table.tenantId} = ${tenantId}`

/**
 * Reconciler, over all tenants, safe with any number of workers: appends committed rows to the chain of their tenant. Each batch is
 * one transaction and ends with a signed checkpoint, so a killed worker leaves a complete chain.
 * @returns the number of sealed rows
 */
export async function sealAuditEntries(ctx: SystemCtx): Promise<number> {
  authorize(ctx, auditPermissions.seal)
  const chains = await ctx.db
    .selectDistinct({ tenantId: auditEntries.tenantId })
    .from(auditEntries)
    .where(isNull(auditEntries.seq))
  // Read before the transaction: the vault uses another connection.
  const keyVersion = chains.length > 0 ? await ctx.vault.newestVersion() : 0
  let count = 0
  for (const { tenantId } of chains)
    try {
      for (let sealed = BATCH; sealed === BATCH; count += sealed)
        sealed = await ctx.db.transaction((tx) => sealSome(tx, ctx, tenantId, keyVersion))
    } catch (error) {
      if (isTransientDbError(error)) throw error
      ctx.log.error({ err: error, tenantId }, 'cannot seal the audit log of a tenant; continuing with other tenants')
    }
  return count
}

/** Allows one transaction at a time to extend the chain. Returns false when another one does. */
export async function lockChain(tx: Tx, tenantId: string | null): Promise<boolean> {
  const { rows } = await tx.execute<{ locked: boolean }>(
    sql`select pg_try_advisory_xact_lock(hashtextextended(${`muster audit chain ${tenantId}`}, 0)) as locked`,
  )
  return rows[0]!.locked
}

async function sealSome(tx: Tx, { vault }: SystemCtx, tenantId: string | null, keyVersion: number): Promise<number> {
  if (!(await lockChain(tx, tenantId))) return 0
  // The end of the chain is the last checkpoint, not the last row: deleted rows leave a gap that verification finds.
  const [last] = await tx
    .select()
    .from(auditCheckpoints)
    .where(inChain(auditCheckpoints, tenantId))
    .orderBy(desc(auditCheckpoints.seq), desc(auditCheckpoints.kind))
    .limit(1)
  const rows = (await tx
    .select(CHAIN_COLUMNS)
    .from(auditEntries)
    .where(and(inChain(auditEntries, tenantId), isNull(auditEntries.seq)))
    .orderBy(asc(auditEntries.id))
    .limit(BATCH)) as ChainRow[]
  if (rows.length === 0) return 0
  let { seq, hash } = last ?? { seq: 0, hash: GENESIS }
  const sealed = rows.map((row) => {
    seq++
    hash = chainHash(hash, { ...row, seq })
    return { id: row.id, seq, hash }
  })
  const column = (name: 'id' | 'seq' | 'hash') => sql.param(sealed.map((row) => row[name]))
  await tx.execute(sql`update ${auditEntries} e set seq = s.seq, hash = s.hash
    from unnest(${column('id')}::uuid[], ${column('seq')}::bigint[], ${column('hash')}::text[]) s (id, seq, hash)
    where e.id = s.id and e.seq is null`)
  await tx.insert(auditCheckpoints).values(await signCheckpoint(vault, { tenantId, kind: 'seal', seq, hash }, keyVersion))
  return rows.length
}
