import { and, eq, lt, type SQL, sql } from 'drizzle-orm'
import { type AttemptCaller, type AttemptEntry, recordAttempt } from '../../audit/index.ts'
import type { Tx } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/client.ts'
import { Unauthenticated } from '../../kernel/errors.ts'
import { type IdentityProvider, sessions } from '../tables.ts'
import { hashToken } from '../tokens/make-token.ts'

/** Deletes the sessions that meet the condition. @returns how many */
export async function deleteSessions(db: Db, condition: SQL): Promise<number> {
  return (await db.delete(sessions).where(condition).returning({ id: sessions.id })).length
}

/** Makes a new session usable, in the transaction of the audit entry. @throws Unauthenticated the session has ended */
export async function activateSession(tx: Db | Tx, token: string): Promise<void> {
  const own = eq(sessions.token, hashToken(token))
  const activated = await tx.update(sessions).set({ isActive: true }).where(own).returning({ id: sessions.id })
  if (activated.length === 0) throw new Unauthenticated('The session ended at the same time. Sign in again.')
}

/** Records a sign-in and makes its session usable, in one transaction. @throws Unauthenticated the session has ended */
export async function recordSignIn(caller: AttemptCaller, token: string, entry: AttemptEntry): Promise<void> {
  await caller.db.transaction(async (tx) => {
    await activateSession(tx, token)
    await recordAttempt({ ...caller, db: tx }, entry)
  })
}

/** Ends the session of a token. @returns the ID of its user; null when there is no such session */
export async function endSession(db: Db, token: string): Promise<string | null> {
  const [ended] = await db
    .delete(sessions)
    .where(eq(sessions.token, hashToken(token)))
    .returning({ userId: sessions.userId })
  return ended?.userId ?? null
}

/** Records that the user of a session proved their identity now. */
export async function recordIdentityProof(db: Db, id: string): Promise<void> {
  await db.update(sessions).set({ authenticatedAt: sql`now()` }).where(eq(sessions.id, id))
}

/** Records when, from which address and with which client a session is used, at most once a minute. */
export async function recordSessionUse(db: Db, id: string, use: { ipAddress: string; userAgent: string | null }): Promise<void> {
  await db
    .update(sessions)
    .set({ lastUsedAt: sql`now()`, ...use })
    .where(and(eq(sessions.id, id), lt(sessions.lastUsedAt, sql`now() - interval '1 minute'`)))
}

/** Records where a new session began, and the tenant in which it works. */
export async function recordSessionStart(
  db: Db | Tx,
  token: string,
  start: { provider: IdentityProvider | null; activeTenantId?: string },
): Promise<void> {
  await db
    .update(sessions)
    .set(start)
    .where(eq(sessions.token, hashToken(token)))
}
