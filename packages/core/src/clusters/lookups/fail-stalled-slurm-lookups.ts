import { lt, sql } from 'drizzle-orm'
import { authorize, type SystemCtx } from '../../kernel/context.ts'
import { sqlSeconds } from '../../kernel/db/sql-time.ts'
import { isStalled, stalledReason } from '../../kernel/db/stalled.ts'
import { slurmLookupChanged } from '../change-events.ts'
import { slurmClusterPermissions } from '../permissions.ts'
import { slurmLookups } from '../tables.ts'

/** Longer than the deadline of a lookup and the connections to both hosts. */
const RUNNING_S = 300
/** A lookup also waits for others of its cluster. */
const WAITING_S = 600
const STORED_S = 3600

/** Reconciler, over all tenants: fails lookups that no worker claimed, and lookups of lost workers. @returns their number */
export async function failStalledSlurmLookups(ctx: SystemCtx): Promise<number> {
  authorize(ctx, slurmClusterPermissions.schedule)
  const lookups = await ctx.db
    .update(slurmLookups)
    .set({ error: stalledReason(slurmLookups, 'the lookup', WAITING_S), finishedAt: sql`now()` })
    .where(isStalled(slurmLookups, RUNNING_S, WAITING_S))
    .returning({ id: slurmLookups.id, tenantId: slurmLookups.tenantId })
  for (const lookup of lookups) ctx.notify(slurmLookupChanged(lookup))
  return lookups.length
}

/** Reconciler, over all tenants: deletes lookups after an hour. Clients read results at once. @returns their number */
export async function pruneSlurmLookups(ctx: SystemCtx): Promise<number> {
  authorize(ctx, slurmClusterPermissions.schedule)
  const deleted = await ctx.db
    .delete(slurmLookups)
    .where(lt(slurmLookups.createdAt, sql`now() - ${sqlSeconds(STORED_S)}`))
    .returning({ id: slurmLookups.id })
  return deleted.length
}
