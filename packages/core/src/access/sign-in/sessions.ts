import { and, eq, lt, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../kernel/db/client.ts'
import { sessions } from '../tables.ts'
import { hashToken } from '../tokens/make-token.ts'

/** Deletes the sessions that meet the condition. @returns how many */
export async function deleteSessions(db: Db, condition: SQL): Promise<number> {
  return (await db.delete(sessions).where(condition).returning({ id: sessions.id })).length
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
