import type { NodeRecord } from '@muster/ledger'
import { and, asc, eq, gte, sql } from 'drizzle-orm'
import { tenants } from '../../access/tables.ts'
import { authorize, type SystemCtx } from '../../kernel/context.ts'
import { newId } from '../../kernel/db/columns.ts'
import { ledgerPermissions } from '../permissions.ts'
import { type LedgerSink, ledgerEntries, ledgerSinks } from '../tables.ts'

/** Lease of a claim; longer than one attempt takes. */
const LEASE = sql`interval '120 seconds'`
/** Entries per transaction: a block of most chains has 1 MB or more, and a message about 1 KB. */
const MAX_ENTRIES = 200

export type ClaimedLedgerSink = {
  sink: LedgerSink
  leaseToken: string
  /** The latest record of each node among the next entries. Empty when a transaction is pending. */
  records: NodeRecord[]
  /** Number of entries that the chain has after them. */
  size: number
}

/** Claims the sink of a tenant with entries to deliver, or with a pending transaction. Null when there is none. */
export async function claimLedgerSink(ctx: SystemCtx): Promise<ClaimedLedgerSink | null> {
  authorize(ctx, ledgerPermissions.record)
  const leaseToken = newId()
  const { rows } = await ctx.db.execute<{ id: string }>(sql`with free as (
      select s.id from ${ledgerSinks} s join ${tenants} t on t.id = s.tenant_id
      where s.is_enabled and t.suspended_at is null and t.deleted_at is null
        and coalesce(s.leased_until, now()) <= now() and coalesce(s.retry_at, now()) <= now()
        and (s.pending_size is not null
          or exists (select from ${ledgerEntries} e where e.tenant_id = s.tenant_id and e.seq >= s.delivered_size))
      order by s.retry_at nulls first limit 1 for no key update of s skip locked)
    update ${ledgerSinks} s set leased_until = now() + ${LEASE}, lease_token = ${leaseToken}, attempts = attempts + 1
    from free where s.id = free.id returning s.id`)
  if (!rows[0]) return null
  const [sink] = await ctx.db.select().from(ledgerSinks).where(eq(ledgerSinks.id, rows[0].id))
  if (!sink) return null
  if (sink.pendingSize !== null) return { sink, leaseToken, records: [], size: sink.pendingSize }
  // Half as many after each failure: the chain may reject large transactions.
  const limit = Math.max(1, MAX_ENTRIES >> Math.min(sink.attempts - 1, 10))
  const entries = await ctx.db
    .select({ seq: ledgerEntries.seq, nodeId: ledgerEntries.nodeId, record: ledgerEntries.record })
    .from(ledgerEntries)
    .where(and(eq(ledgerEntries.tenantId, sink.tenantId), gte(ledgerEntries.seq, sink.deliveredSize)))
    .orderBy(asc(ledgerEntries.seq))
    .limit(limit)
  const latest = new Map(entries.map((entry) => [entry.nodeId, JSON.parse(entry.record) as NodeRecord]))
  return { sink, leaseToken, records: [...latest.values()], size: entries.at(-1)!.seq + 1 }
}
