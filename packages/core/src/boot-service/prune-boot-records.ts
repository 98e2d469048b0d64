import { sql } from 'drizzle-orm'
import { authorize, type SystemCtx } from '../kernel/context.ts'
import { bootPermissions } from './permissions.ts'
import { bootAttempts, unknownMachines } from './tables.ts'

const ATTEMPT_DAYS = 90
/** Per node, so that repeated requests for a boot script do not fill the database. */
const MAX_ATTEMPTS = 200
const NEW_MACHINE_DAYS = 7
const ACCEPTED_MACHINE_DAYS = 90

/**
 * Reconciler, over all tenants: deletes boots with their fetches after 90 days and beyond 200 per node, new machines that were not seen
 * for a week, and accepted ones after 90 days. Rejected machines stay.
 */
export async function pruneBootRecords(ctx: SystemCtx): Promise<{ bootAttempts: number; unknownMachines: number }> {
  authorize(ctx, bootPermissions.observe)
  const [attempts, machines] = await Promise.all([
    ctx.db.execute(sql`delete from ${bootAttempts} where id in (
      select id from (select id, started_at, row_number() over (partition by node_id order by id desc) as number from ${bootAttempts}) a
      where started_at < now() - make_interval(days => ${ATTEMPT_DAYS}) or number > ${MAX_ATTEMPTS})`),
    ctx.db.execute(sql`delete from ${unknownMachines}
      where (state = 'NEW' and last_seen_at < now() - make_interval(days => ${NEW_MACHINE_DAYS}))
        or (state = 'ACCEPTED' and accepted_at < now() - make_interval(days => ${ACCEPTED_MACHINE_DAYS}))`),
  ])
  return { bootAttempts: attempts.rowCount ?? 0, unknownMachines: machines.rowCount ?? 0 }
}
