import { and, isNull, lt, or, sql } from 'drizzle-orm'
import { authorize, type SystemCtx } from '../../kernel/context.ts'
import { slurmLookupChanged } from '../change-events.ts'
import { slurmClusterPermissions } from '../permissions.ts'
import { slurmLookups } from '../tables.ts'

/** Longer than all deadlines of a lookup together, and the time that it may wait for a worker. */
const RUNNING_S = 300
const WAITING_S = 120
const STORED_S = 3600

const age = (seconds: number) => sql`now() - make_interval(secs => ${seconds})`

/** Reconciler, over all tenants: fails lookups that no worker claimed, and lookups of lost workers. @returns their number */
export async function failStalledSlurmLookups(ctx: SystemCtx): Promise<number> {
  authorize(ctx, slurmClusterPermissions.schedule)
  const { startedAt, createdAt, finishedAt } = slurmLookups
  const lookups = await ctx.db
    .update(slurmLookups)
    .set({
      error: sql`case when ${startedAt} is null then 'No worker started the lookup within two minutes. Check that a worker runs, then try again.'
        else 'The worker was lost during the lookup. Try again.' end`,
      finishedAt: sql`now()`,
    })
    .where(and(isNull(finishedAt), or(lt(startedAt, age(RUNNING_S)), and(isNull(startedAt), lt(createdAt, age(WAITING_S))))))
    .returning({ id: slurmLookups.id, tenantId: slurmLookups.tenantId })
  for (const lookup of lookups) ctx.notify(slurmLookupChanged(lookup))
  return lookups.length
}

/** Reconciler, over all tenants: deletes lookups after an hour. Clients read results at once. @returns their number */
export async function pruneSlurmLookups(ctx: SystemCtx): Promise<number> {
  authorize(ctx, slurmClusterPermissions.schedule)
  const deleted = await ctx.db
    .delete(slurmLookups)
    .where(lt(slurmLookups.createdAt, age(STORED_S)))
    .returning({ id: slurmLookups.id })
  return deleted.length
}
