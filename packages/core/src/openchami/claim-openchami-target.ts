import { eq, sql } from 'drizzle-orm'
import { tenants } from '../access/tables.ts'
import { authorize, type SystemCtx } from '../kernel/context.ts'
import { newId } from '../kernel/db/columns.ts'
import { openchamiPermissions } from './permissions.ts'
import { type CheckMode, type OpenchamiTarget, openchamiTargets } from './tables.ts'

/** Lease of a claim; longer than a check may take. */
const LEASE = sql`interval '10 minutes'`

export type ClaimedTarget = { target: OpenchamiTarget; leaseToken: string; mode: CheckMode }

/** Claims a free target with a requested check, or whose interval has passed. Null when there is none. */
export async function claimOpenchamiTarget(ctx: SystemCtx): Promise<ClaimedTarget | null> {
  authorize(ctx, openchamiPermissions.report)
  const leaseToken = newId()
  const isDue = sql`t.mode <> 'OFF' and coalesce(t.checked_at + t.interval_seconds * interval '1 second', now()) <= now()`
  const { rows } = await ctx.db.execute<{ id: string }>(sql`with free as (
      select t.id from ${openchamiTargets} t join ${tenants} n on n.id = t.tenant_id
      where n.suspended_at is null and n.deleted_at is null and coalesce(t.leased_until, now()) <= now() and (t.requested_at is not null or ${isDue})
      order by t.requested_at nulls last, t.checked_at nulls first limit 1 for no key update of t skip locked)
    update ${openchamiTargets} t set leased_until = now() + ${LEASE}, lease_token = ${leaseToken}
    from free where t.id = free.id returning t.id`)
  if (!rows[0]) return null
  const [target] = await ctx.db.select().from(openchamiTargets).where(eq(openchamiTargets.id, rows[0].id))
  // Null when the target was removed concurrently.
  if (!target) return null
  return { target, leaseToken, mode: target.requestedMode ?? (target.mode === 'PUSH' ? 'PUSH' : 'REPORT') }
}
