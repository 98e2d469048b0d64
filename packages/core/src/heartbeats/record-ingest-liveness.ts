import { sql } from 'drizzle-orm'
import { INGEST_DOWN_AFTER_SECONDS } from '../agents/index.ts'
import type { SystemCtx } from '../kernel/context.ts'
import { authorize } from '../kernel/context.ts'
import { sqlNow, sqlSeconds } from '../kernel/db/sql-time.ts'
import { heartbeatPermissions } from './permissions.ts'
import { ingestLiveness } from './tables.ts'

/**
 * Records that heartbeats can arrive. Every API process calls it every second. It also records interruptions, because
 * heartbeats missed during one do not count.
 * @param now replaces the database's time in tests
 */
export async function recordIngestLiveness(ctx: Pick<SystemCtx, 'db' | 'actor'>, now?: Date): Promise<void> {
  authorize(ctx, heartbeatPermissions.maintain)
  const at = sqlNow(now)
  const isBreak = sql`i.alive_at < ${at} - ${sqlSeconds(INGEST_DOWN_AFTER_SECONDS)}`
  await ctx.db.execute(sql`
    insert into ${ingestLiveness} as i (id, alive_at, up_since) values (1, ${at}, ${at})
    on conflict (id) do update set alive_at = greatest(i.alive_at, ${at}),
      up_since = case when ${isBreak} then ${at} else i.up_since end,
      down_from = case when ${isBreak} then i.alive_at else i.down_from end`)
}
