import { sql } from 'drizzle-orm'
import type { SystemCtx, Tx } from '../kernel/context.ts'
import { authorize } from '../kernel/context.ts'
import type { ChangeEvent } from '../kernel/events.ts'
import { applyStateTransitions, findTransitionCandidates } from './apply-state-transitions.ts'
import { suppressMassOutage } from './mass-outage.ts'
import { agentPermissions } from './permissions.ts'

// The key is arbitrary. One process reconciles at a time; the others have nothing to do.
const LOCK = 7_205_759_404
/** Agents per transaction, so that row locks are short even when a whole site is silent. */
const BATCH_SIZE = 2000

/**
 * Reconciles the state of every agent: STALE and OFFLINE after missed heartbeats, ACTIVE when they return, DRAINED when their
 * jobs have ended. Suppresses OFFLINE during a mass outage or when heartbeats could not arrive. Workers call it twice a second;
 * concurrent calls are safe.
 * @param now replaces the database's time in tests
 * @param isQuick excludes OFFLINE agents: their next heartbeat makes them ACTIVE, and reconciling covers only what that missed
 * @returns the number of state changes
 */
export async function reconcileAgentStates(ctx: SystemCtx, now?: Date, isQuick = false): Promise<number> {
  authorize(ctx, agentPermissions.reconcile)
  let left: string[] = []
  const first = await withAdvisoryLock(ctx, async (tx) => {
    const changeEvents = await suppressMassOutage(tx, now)
    left = await findTransitionCandidates(tx, now, isQuick)
    const { moved, changeEvents: more } = await applyStateTransitions(tx, left.splice(0, BATCH_SIZE), now)
    return { moved, changeEvents: [...changeEvents, ...more] }
  })
  let moved = first?.moved ?? 0
  while (left.length > 0)
    moved += (await withAdvisoryLock(ctx, (tx) => applyStateTransitions(tx, left.splice(0, BATCH_SIZE), now)))?.moved ?? 0
  return moved
}

/** Runs `work` in a transaction that holds the lock; null while another process reconciles. */
async function withAdvisoryLock<T extends { changeEvents: ChangeEvent[] }>(
  { db, notify }: SystemCtx,
  work: (tx: Tx) => Promise<T>,
): Promise<T | null> {
  const done = await db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ isLocked: boolean }>(sql`select pg_try_advisory_xact_lock(${LOCK}) as "isLocked"`)
    return rows[0]!.isLocked ? work(tx) : null
  })
  for (const changeEvent of done?.changeEvents ?? []) notify(changeEvent)
  return done
}
