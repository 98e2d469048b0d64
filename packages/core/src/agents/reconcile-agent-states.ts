import { sql } from 'drizzle-orm'
import type { SystemCtx, Tx } from '../kernel/context.ts'
import { authorize } from '../kernel/context.ts'
import type { ChangeEvent } from '../kernel/events.ts'
import { applyStateTransitions, findTransitionCandidates } from './apply-state-transitions.ts'
import { suppressMassOutage } from './mass-outage.ts'
import { agentPermissions } from './permissions.ts'

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
export async function reconcileAgentStates(ctx: SystemCtx, now?: Date, isQuick = false): Promise<number> {
  authorize(ctx, agentPermissions.reconcile)
  let left: string[] = []
  const judged = await alone(ctx, async (tx) => {
    const changeEvents = await suppressMassOutage(tx, now)
    left = await findTransitionCandidates(tx, now, isQuick)
    const { moved, changeEvents: more } = await applyStateTransitions(tx, left.splice(0, PIECE), now)
    return { moved, changeEvents: [...changeEvents, ...more] }
  })
  let moved = judged?.moved ?? 0
  while (left.length > 0) moved += (await alone(ctx, (tx) => applyStateTransitions(tx, left.splice(0, PIECE), now)))?.moved ?? 0
  return moved
}

/** Null while another process judges. */
async function alone<T extends { changeEvents: ChangeEvent[] }>(
  { db, notify }: SystemCtx,
  work: (tx: Tx) => Promise<T>,
): Promise<T | null> {
  const done = await db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ mine: boolean }>(sql`select pg_try_advisory_xact_lock(${LOCK}) as mine`)
    return rows[0]!.mine ? work(tx) : null
  })
  for (const changeEvent of done?.changeEvents ?? []) notify(changeEvent)
  return done
}
