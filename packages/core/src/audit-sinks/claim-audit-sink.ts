import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { tenants } from '../access/tables.ts'
import { auditEntries, auditPermissions, CHAIN_COLUMNS, type ChainRow } from '../audit/index.ts'
import { authorize, type SystemCtx } from '../kernel/context.ts'
import { newId } from '../kernel/db/columns.ts'
import { type AuditSink, auditSinks } from './tables.ts'

/** Lease of a claim; longer than one attempt takes. */
const LEASE = sql`interval '60 seconds'`
const MAX_ENTRIES = 500
const MAX_BYTES = 512 * 1024

export type ClaimedSink = {
  sink: AuditSink
  tenantName: string
  leaseToken: string
  /** The next entries in the order of the chain; empty for a test. */
  entries: (ChainRow & { seq: number })[]
}

/**
 * Claims a free sink with a requested test, or with entries to deliver: the sealed entries after the last accepted one, in order.
 * Sinks do not wait for each other. Null when there is none.
 */
export async function claimAuditSink(ctx: SystemCtx): Promise<ClaimedSink | null> {
  authorize(ctx, auditPermissions.seal)
  const leaseToken = newId()
  const hasEntries = sql`s.is_enabled and coalesce(s.retry_at, now()) <= now()
    and exists (select from ${auditEntries} e where e.tenant_id = s.tenant_id and e.seq > s.delivered_seq)`
  const { rows } = await ctx.db.execute<{ id: string }>(sql`with free as (
      select s.id from ${auditSinks} s
      where coalesce(s.leased_until, now()) <= now() and (s.test_requested_at is not null or (${hasEntries}))
      order by s.test_requested_at nulls last, s.retry_at nulls first limit 1 for no key update skip locked)
    update ${auditSinks} s set leased_until = now() + ${LEASE}, lease_token = ${leaseToken},
      attempts = attempts + case when s.test_requested_at is null then 1 else 0 end
    from free where s.id = free.id returning s.id`)
  if (!rows[0]) return null
  const [claimed] = await ctx.db
    .select({ sink: auditSinks, tenantName: tenants.name })
    .from(auditSinks)
    .innerJoin(tenants, eq(tenants.id, auditSinks.tenantId))
    .where(eq(auditSinks.id, rows[0].id))
  // Null when the sink was deleted concurrently.
  if (!claimed) return null
  return { ...claimed, leaseToken, entries: claimed.sink.testRequestedAt ? [] : await nextEntries(ctx, claimed.sink) }
}

/** At least one entry. After failures fewer, because the receiver may reject large batches. */
async function nextEntries({ db }: SystemCtx, { tenantId, deliveredSeq, attempts }: AuditSink): Promise<ClaimedSink['entries']> {
  const rows = (await db
    .select(CHAIN_COLUMNS)
    .from(auditEntries)
    .where(and(eq(auditEntries.tenantId, tenantId), gt(auditEntries.seq, deliveredSeq)))
    .orderBy(asc(auditEntries.seq))
    .limit(Math.max(1, MAX_ENTRIES >> Math.min(attempts - 1, 10)))) as ClaimedSink['entries']
  let bytes = 0
  const end = rows.findIndex((row) => {
    bytes += Buffer.byteLength(JSON.stringify(row))
    return bytes > MAX_BYTES
  })
  return end < 0 ? rows : rows.slice(0, Math.max(1, end))
}
