import { sql } from 'drizzle-orm'
import { agentEnrollmentTokens, agentOutages, agentTransitions } from '../agents/tables.ts'
import type { SystemCtx, Tx } from '../kernel/context.ts'
import { authorize } from '../kernel/context.ts'
import { heartbeatPermissions } from './permissions.ts'

/** Hours of five-minute steps that are kept at least; a day's partition goes when its last hour is older. */
const KEPT_HOURS = 24
/** Days to come that have a partition already. */
const AHEAD = 2
/** Days for which transitions, silences and tokens that are used or over are kept. */
const KEPT_DAYS = 90
const LOCK = 7_205_759_405
const DAY_MS = 86_400_000
const PARTITION = /^agent_heartbeat_history_(\d{4})(\d\d)(\d\d)$/

/**
 * Reconciler: creates partitions for the next days, and drops old partitions and old entries of agents.
 * @param now in tests, the time that holds in place of this machine's
 * @returns the numbers of created and dropped partitions
 */
export async function rollUpHeartbeatHistory(
  ctx: Pick<SystemCtx, 'db' | 'actor'>,
  now = new Date(),
): Promise<{ made: number; dropped: number }> {
  authorize(ctx, heartbeatPermissions.maintain)
  return ctx.db.transaction(async (tx) => {
    const { rows: got } = await tx.execute<{ mine: boolean }>(sql`select pg_try_advisory_xact_lock(${LOCK}) as mine`)
    if (!got[0]!.mine) return { made: 0, dropped: 0 }
    // Both take the table away from heartbeats for a moment; who cannot have it soon comes again.
    await tx.execute(sql`set local lock_timeout = '2s'`)
    const { rows } = await tx.execute<{ name: string }>(
      sql`select inhrelid::regclass::text as name from pg_inherits where inhparent = 'agent_heartbeat_history'::regclass`,
    )
    const names = new Set(rows.map(({ name }) => name))
    const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS
    let made = 0
    for (let day = today; day <= today + AHEAD * DAY_MS; day += DAY_MS)
      if (!names.has(nameOf(day))) {
        await makePartition(tx, day)
        made++
      }
    const over = [...names].filter((name) => endOf(name) < now.getTime() - KEPT_HOURS * 3_600_000)
    for (const name of over) await tx.execute(sql.raw(`drop table ${name}`))
    await tx.execute(
      sql`delete from agent_heartbeat_history_default where bucket_at < now() - make_interval(hours => ${KEPT_HOURS})`,
    )
    const old = sql`now() - make_interval(days => ${KEPT_DAYS})`
    await tx.delete(agentTransitions).where(sql`${agentTransitions.at} < ${old}`)
    await tx.delete(agentOutages).where(sql`${agentOutages.endedAt} < ${old}`)
    await tx
      .delete(agentEnrollmentTokens)
      .where(sql`least(${agentEnrollmentTokens.usedAt}, ${agentEnrollmentTokens.expiresAt}) < ${old}`)
    return { made, dropped: over.length }
  })
}

const nameOf = (day: number) => `agent_heartbeat_history_${new Date(day).toISOString().slice(0, 10).replaceAll('-', '')}`

/** When the day of a partition is over; never, for the one that takes what has no day. */
function endOf(name: string): number {
  const [, year, month, day] = PARTITION.exec(name) ?? []
  return year ? Date.parse(`${year}-${month}-${day}T00:00:00Z`) + DAY_MS : Number.POSITIVE_INFINITY
}

/** With what was written while it was not there. */
async function makePartition(tx: Tx, day: number): Promise<void> {
  const [name, from, to] = [nameOf(day), new Date(day).toISOString(), new Date(day + DAY_MS).toISOString()]
  await tx.execute(sql.raw(`create table ${name} (like agent_heartbeat_history including all)`))
  await tx.execute(
    sql.raw(`with moved as (delete from agent_heartbeat_history_default where bucket_at >= '${from}' and bucket_at < '${to}' returning *)
      insert into ${name} select * from moved`),
  )
  await tx.execute(
    sql.raw(`alter table agent_heartbeat_history attach partition ${name} for values from ('${from}') to ('${to}')`),
  )
}
