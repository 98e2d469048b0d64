import { sql } from 'drizzle-orm'
import type { Runtime } from '../context.ts'
import { INGEST_DOWN_AFTER_S } from './judge.ts'
import { moment, seconds } from './moment.ts'
import { agentIngest } from './tables.ts'

/**
 * Say that heartbeats can arrive. Every API process does so every second; after a break the time without is written down, so that
 * nobody's silence in it counts.
 * @param now in tests, the time that holds in place of the database's
 */
export async function touchIngest({ db }: Pick<Runtime, 'db'>, now?: Date): Promise<void> {
  const at = moment(now)
  const isBreak = sql`i.alive_at < ${at} - ${seconds(INGEST_DOWN_AFTER_S)}`
  await db.execute(sql`
    insert into ${agentIngest} as i (id, alive_at, up_since) values (1, ${at}, ${at})
    on conflict (id) do update set alive_at = greatest(i.alive_at, ${at}),
      up_since = case when ${isBreak} then ${at} else i.up_since end,
      down_from = case when ${isBreak} then i.alive_at else i.down_from end`)
}
