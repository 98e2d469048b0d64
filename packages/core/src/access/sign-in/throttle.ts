import { createHash } from 'node:crypto'
import { inArray, sql } from 'drizzle-orm'
import type { Db } from '../../kernel/db/client.ts'
import { Unavailable } from '../../kernel/errors.ts'
import { clientNetwork } from '../../kernel/networks.ts'
import { signInAttempts } from '../tables.ts'

/** Attempts per window of one client network, counted over all kinds of sign-in. */
const ADDRESS = { limit: 30, seconds: 60 }
/** Failed attempts per window for one account. A locked-out user waits, at most for one window. */
const ACCOUNT = { limit: 10, seconds: 900 }

export type Throttle = ReturnType<typeof createThrottle>

/**
 * Limits attempts to guess a secret, per account and per client address. The counters are in the database: all API processes share
 * them, and they survive a restart. An attempt counts before its secret is checked, so concurrent attempts do not exceed the limit.
 * An account is counted whether it exists or not. No library: one statement counts both keys on our own connections.
 */
export function createThrottle(db: Db) {
  /** Key of an account. The email address is hashed, because users also type passwords into that field. */
  const accountKey = (kind: string, account: string) =>
    `${kind}:${createHash('sha256').update(account.trim().toLowerCase()).digest('base64url')}`

  async function count(keys: { key: string; limit: number; seconds: number }[]): Promise<void> {
    // In one order, because concurrent statements lock the same rows.
    const sorted = keys.toSorted((a, b) => (a.key < b.key ? -1 : 1))
    const rows = await db
      .insert(signInAttempts)
      .values(sorted.map(({ key, seconds }) => ({ key, count: 1, endsAt: sql`now() + make_interval(secs => ${seconds})` })))
      .onConflictDoUpdate({
        target: signInAttempts.key,
        set: {
          count: sql`case when ${signInAttempts.endsAt} <= now() then 1 else ${signInAttempts.count} + 1 end`,
          endsAt: sql`case when ${signInAttempts.endsAt} <= now() then excluded.ends_at else ${signInAttempts.endsAt} end`,
        },
      })
      .returning({
        key: signInAttempts.key,
        count: signInAttempts.count,
        waitS: sql<number>`ceil(extract(epoch from ${signInAttempts.endsAt} - now()))::int`,
      })
    const exceeded = rows.filter((row) => row.count > keys.find(({ key }) => key === row.key)!.limit)
    if (exceeded.length === 0) return
    const seconds = Math.max(1, ...exceeded.map(({ waitS }) => waitS))
    throw new Unavailable(`Too many sign-in attempts. Try again in ${seconds} s.`)
  }

  return {
    /**
     * Counts an attempt of the client, and of the account when given. @throws Unavailable with the time to wait
     * @param kind what is guessed, for example `password`
     */
    async attempt(kind: string, address: string, account?: string): Promise<void> {
      await db.execute(sql`delete from sign_in_attempts where key in (
        select key from sign_in_attempts where ends_at < now() - interval '1 hour' limit 10 for update skip locked)`)
      const keys = [{ key: `address:${clientNetwork(address)}`, ...ADDRESS }]
      if (account !== undefined) keys.push({ key: accountKey(kind, account), ...ACCOUNT })
      await count(keys)
    },
    /** Clears the counter of an account after a successful attempt. The counter of the address stays. */
    async succeeded(kind: string, account: string): Promise<void> {
      await db.delete(signInAttempts).where(inArray(signInAttempts.key, [accountKey(kind, account)]))
    },
    /** Whether this is the first use of a one-time secret of the account within the time. */
    async isFirstUse(kind: string, account: string, seconds: number): Promise<boolean> {
      try {
        await count([{ key: accountKey(kind, account), limit: 1, seconds }])
        return true
      } catch (error) {
        if (error instanceof Unavailable) return false
        throw error
      }
    },
  }
}
