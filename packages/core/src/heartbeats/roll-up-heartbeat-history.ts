import { sql } from 'drizzle-orm'
import { agentEnrollmentTokens, agentOutages, agentTransitions } from '../agents/tables.ts'
import type { SystemCtx } from '../kernel/context.ts'
import { authorize } from '../kernel/context.ts'
import { heartbeatPermissions } from './permissions.ts'

/** Minimum retention of the five-minute history, in hours. A day's partition is dropped when its last hour is older. */
const KEPT_HOURS = 24
/** Days for which partitions are created in advance. */
const AHEAD = 2
/** Retention of transitions, ended outages, and used or expired tokens, in days. */
const KEPT_DAYS = 90
const LOCK = 7_205_759_405
const DAY_MS = 86_400_000
const PARTITION = /^agent_heartbeat_history_(\d{4})(\d\d)(\d\d)$/

/**
 * Reconciler: creates partitions for the next days, and drops old partitions and old entries of agents.
 * @param now replaces this machine's time in tests
 * @returns the numbers of created and dropped partitions
 */
export async function rollUpHeartbeatHistory(
  ctx: Pick<SystemCtx, 'db' | 'actor'>,
  now = new Date(),
): Promise<{ created: number; dropped: number }> {
  authorize(ctx, heartbeatPermissions.maintain)
  return ctx.db.transaction(async (tx) => {
    const { rows: got } = await tx.execute<{ isLocked: boolean }>(sql`select pg_try_advisory_xact_lock(${LOCK}) as "isLocked"`)
    if (!got[0]!.isLocked) return { created: 0, dropped: 0 }
    // Creating and dropping partitions blocks heartbeats. On a timeout the next pass repeats it.
    await tx.execute(sql`set local lock_timeout = '2s'`)
    const { rows } = await tx.execute<{ name: string }>(
      sql`select inhrelid::regclass::text as name from pg_inherits where inhparent = 'agent_heartbeat_history'::regclass`,
    )
    const names = new Set(rows.map(({ name }) => name))
    const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS
    let created = 0
    for (let day = today; day <= today + AHEAD * DAY_MS; day += DAY_MS)
      if (!names.has(nameOf(day))) {
        await tx.execute(sql`select create_heartbeat_history_partition(${dayOf(day)}::date)`)
        created++
      }
    const over = [...names].filter((name) => endOf(name) < now.getTime() - KEPT_HOURS * 3_600_000)
    for (const name of over)
      await tx.execute(sql`select drop_heartbeat_history_partition(to_date(${name.slice(-8)}, 'YYYYMMDD'))`)
    await tx.execute(
      sql`delete from agent_heartbeat_history_default where bucket_at < now() - make_interval(hours => ${KEPT_HOURS})`,
    )
    const old = sql`now() - make_interval(days => ${KEPT_DAYS})`
    await tx.delete(agentTransitions).where(sql`${agentTransitions.at} < ${old}`)
    await tx.delete(agentOutages).where(sql`${agentOutages.endedAt} < ${old}`)
    await tx
      .delete(agentEnrollmentTokens)
      .where(sql`least(${agentEnrollmentTokens.usedAt}, ${agentEnrollmentTokens.expiresAt}) < ${old}`)
    return { created, dropped: over.length }
  })
}

const dayOf = (day: number) => new Date(day).toISOString().slice(0, 10)
const nameOf = (day: number) => `agent_heartbeat_history_${dayOf(day).replaceAll('-', '')}`

/** End of a partition's day; infinity for the default partition. */
function endOf(name: string): number {
  const [, year, month, day] = PARTITION.exec(name) ?? []
  return year ? Date.parse(`${year}-${month}-${day}T00:00:00Z`) + DAY_MS : Number.POSITIVE_INFINITY
}
