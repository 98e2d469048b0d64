import { and, asc, desc, eq, gt, gte, isNotNull, lt, lte, min, or, sql } from 'drizzle-orm'
import { tenants } from '../access/tables.ts'
import { auditSinks } from '../audit-sinks/tables.ts'
import { authorize, inTransaction, type SystemCtx, type Tx } from '../kernel/context.ts'
import { isTransientDbError } from '../kernel/retry-transient.ts'
import { audit } from './audit.ts'
import { auditLogAudit } from './audit-actions.ts'
import { CHAIN_COLUMNS, type ChainRow, chainHash, GENESIS, isSigned, signCheckpoint } from './chain.ts'
import { auditPermissions } from './permissions.ts'
import { inChain, lockChain } from './seal-audit-entries.ts'
import { auditCheckpoints, auditEntries } from './tables.ts'

/** Rows per transaction. */
const BATCH = 5000
/** Entries that a sink has not delivered are kept for at most this time longer. */
const SINK_WAIT_DAYS = 30

/**
 * Reconciler, over all tenants and the installation: deletes sealed rows that exceed the retention, from the beginning of the chain. A signed
 * `prune` checkpoint has the hash of the last deleted row, so that the rest still verifies. Rows that do not verify, and all rows
 * after them, are kept as evidence.
 * Rows that an enabled sink has not delivered are kept for at most 30 more days; the entry of the deletion then names the sink.
 * @param installationDays retention of the installation's chain, to which failed sign-ins of strangers belong; default: unlimited
 * @returns the number of deleted rows
 */
export async function pruneAuditEntries(ctx: SystemCtx, installationDays?: number): Promise<number> {
  authorize(ctx, auditPermissions.seal)
  const limited: { id: string | null; days: number }[] = (
    await ctx.db.select().from(tenants).where(isNotNull(tenants.auditRetentionDays))
  ).map(({ id, auditRetentionDays }) => ({ id, days: auditRetentionDays! }))
  if (installationDays) limited.push({ id: null, days: installationDays })
  // Read before the transaction: the vault uses another connection.
  const keyVersion = limited.length > 0 ? await ctx.vault.newestVersion() : 0
  let count = 0
  for (const { id, days } of limited)
    try {
      for (let deleted = BATCH; deleted === BATCH; count += deleted)
        deleted = await inTransaction(ctx, (tx, ctx) => pruneSome(tx, { ...ctx, tenantId: id }, days, keyVersion))
    } catch (error) {
      if (isTransientDbError(error)) throw error
      ctx.log.error({ err: error, tenantId: id }, 'cannot prune an audit log; continuing with the others')
    }
  return count
}

type Chain = Omit<SystemCtx, 'db'> & { tenantId: string | null }

async function pruneSome(tx: Tx, ctx: Chain, days: number, keyVersion: number): Promise<number> {
  const { tenantId, vault } = ctx
  if (!(await lockChain(tx, tenantId))) return 0
  const [last] = await tx
    .select()
    .from(auditCheckpoints)
    .where(and(inChain(auditCheckpoints, tenantId), eq(auditCheckpoints.kind, 'prune')))
    .orderBy(desc(auditCheckpoints.seq))
    .limit(1)
  if (last && !(await isSigned(vault, last))) return reportInvalidChain(ctx, last.seq)
  let { seq, hash } = last ?? { seq: 0, hash: GENESIS }
  // Sinks receive the entries of tenants only.
  const sinks = tenantId
    ? await tx
        .select({ name: auditSinks.name, deliveredSeq: auditSinks.deliveredSeq })
        .from(auditSinks)
        .where(and(eq(auditSinks.tenantId, tenantId), eq(auditSinks.isEnabled, true)))
    : []
  const isYoungerThan = (age: number) => gte(auditEntries.createdAt, sql`now() - make_interval(days => ${age})`)
  const isUndelivered = gt(auditEntries.seq, Math.min(...sinks.map(({ deliveredSeq }) => deliveredSeq)))
  const [newer] = await tx
    .select({ seq: min(auditEntries.seq) })
    .from(auditEntries)
    .where(
      and(
        inChain(auditEntries, tenantId),
        or(isYoungerThan(days), sinks.length > 0 ? and(isUndelivered, isYoungerThan(days + SINK_WAIT_DAYS)) : undefined),
      ),
    )
  const rows = (await tx
    .select(CHAIN_COLUMNS)
    .from(auditEntries)
    .where(
      and(inChain(auditEntries, tenantId), gt(auditEntries.seq, seq), newer?.seq ? lt(auditEntries.seq, newer.seq) : undefined),
    )
    .orderBy(asc(auditEntries.seq))
    .limit(BATCH)) as (ChainRow & { seq: number; hash: string })[]
  if (rows.length === 0) return 0
  for (const row of rows) {
    if (row.seq !== seq + 1 || chainHash(hash, row) !== row.hash) return reportInvalidChain(ctx, seq + 1)
    ;[seq, hash] = [row.seq, row.hash]
  }
  await tx.delete(auditEntries).where(and(inChain(auditEntries, tenantId), lte(auditEntries.seq, seq)))
  await tx.delete(auditCheckpoints).where(and(inChain(auditCheckpoints, tenantId), lt(auditCheckpoints.seq, seq)))
  await tx.insert(auditCheckpoints).values(await signCheckpoint(vault, { tenantId, kind: 'prune', seq, hash }, keyVersion))
  const undelivered = sinks.filter(({ deliveredSeq }) => deliveredSeq < seq).map(({ name }) => name)
  await audit(
    tx,
    ctx,
    auditLogAudit.prune,
    { id: null },
    {
      entries: rows.length,
      lastSeq: seq,
      retentionDays: days,
      ...(undelivered.length > 0 ? { undeliveredTo: undelivered } : {}),
    },
  )
  return rows.length
}

function reportInvalidChain({ log, tenantId }: Chain, seq: number): 0 {
  log.error({ tenantId, seq }, 'the audit log does not verify; retention keeps its entries. Run `muster audit verify`')
  return 0
}
