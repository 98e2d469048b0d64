import { sql } from 'drizzle-orm'
import type { Runtime } from '../context.ts'
import { judge } from './judge.ts'
import { holdMassSilence } from './mass-silence.ts'

// Any constant serves; only one process judges at a time, the others have nothing left to do.
const LOCK = 7_205_759_404

/**
 * Call agents of all tenants what they are: stale and offline when their heartbeats stay away, active when they come again, drained
 * when their jobs have ended. But where too many fall silent at once, or nothing could be heard, OFFLINE waits. The worker does this
 * twice a second; any number may at once.
 * @param now in tests, the time that holds in place of the database's
 * @param isQuick leave out those that are OFFLINE: who is heard again is called ACTIVE when it is, and this is only for what that missed
 * @returns how many agents changed their state
 */
export async function judgeAgents({ db, notify }: Pick<Runtime, 'db' | 'notify'>, now?: Date, isQuick = false): Promise<number> {
  const { moved, nudges } = await db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ mine: boolean }>(sql`select pg_try_advisory_xact_lock(${LOCK}) as mine`)
    if (!rows[0]!.mine) return { moved: 0, nudges: [] }
    const held = await holdMassSilence(tx, now)
    const judged = await judge(tx, { now, isQuick })
    return { moved: judged.moved, nudges: [...held, ...judged.nudges] }
  })
  for (const nudge of nudges) notify(nudge)
  return moved
}
