import { sql } from 'drizzle-orm'
import type { Runtime, Tx } from '../context.ts'
import type { Nudge } from '../events.ts'
import { judge, mayMove } from './judge.ts'
import { holdMassSilence } from './mass-silence.ts'

// Any constant serves; only one process judges at a time, the others have nothing left to do.
const LOCK = 7_205_759_404
/** Agents that one transaction looks at: when a whole site falls silent nobody waits long for a row. */
const PIECE = 2000

/**
 * Call agents of all tenants what they are: stale and offline when their heartbeats stay away, active when they come again, drained
 * when their jobs have ended. But where too many fall silent at once, or nothing could be heard, OFFLINE waits. The worker does this
 * twice a second; any number may at once.
 * @param now in tests, the time that holds in place of the database's
 * @param isQuick leave out those that are OFFLINE: who is heard again is called ACTIVE when it is, and this is only for what that missed
 * @returns how many agents changed their state
 */
export async function judgeAgents(runtime: Pick<Runtime, 'db' | 'notify'>, now?: Date, isQuick = false): Promise<number> {
  let left: string[] = []
  const judged = await alone(runtime, async (tx) => {
    const nudges = await holdMassSilence(tx, now)
    left = await mayMove(tx, now, isQuick)
    const { moved, nudges: more } = await judge(tx, left.splice(0, PIECE), now)
    return { moved, nudges: [...nudges, ...more] }
  })
  let moved = judged?.moved ?? 0
  while (left.length > 0) moved += (await alone(runtime, (tx) => judge(tx, left.splice(0, PIECE), now)))?.moved ?? 0
  return moved
}

/** Null while another process judges. */
async function alone<T extends { nudges: Nudge[] }>(
  { db, notify }: Pick<Runtime, 'db' | 'notify'>,
  work: (tx: Tx) => Promise<T>,
): Promise<T | null> {
  const done = await db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ mine: boolean }>(sql`select pg_try_advisory_xact_lock(${LOCK}) as mine`)
    return rows[0]!.mine ? work(tx) : null
  })
  for (const nudge of done?.nudges ?? []) notify(nudge)
  return done
}
