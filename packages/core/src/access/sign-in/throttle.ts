import { createHash } from 'node:crypto'
import { and, eq, gt, or, sql } from 'drizzle-orm'
import type { Db } from '../../kernel/db/client.ts'
import { Unavailable } from '../../kernel/errors.ts'
import { clientNetwork } from '../../kernel/networks.ts'
import { signInAttempts } from '../tables.ts'

/** Attempts per window of one client network, counted over all kinds of sign-in. */
const ADDRESS = { limit: 30, seconds: 60 }
/** Failed attempts per window for one account from one network. A locked-out user waits, at most for one window. */
const ACCOUNT = { limit: 10, seconds: 900 }
/** Failed attempts per window for one account from all networks in which the user did not sign in before. */
const ACCOUNT_TOTAL = { limit: 100, seconds: 900 }
/** How long a network counts as one in which the user signed in. */
const KNOWN_NETWORK_S = 30 * 86_400

export type Throttle = ReturnType<typeof createThrottle>

/**
 * Limits attempts to guess a secret, per account and per client network. The counters are in the database: all API processes share
 * them, and they survive a restart. An attempt counts before its secret is checked, so concurrent attempts do not exceed the limit.
 * Nobody locks a user out of a network in which the user signed in before: its counter is its own.
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

  /** The counters of an account for one network. */
  async function keysOf(kind: string, network: string, account: string) {
    const key = accountKey(kind, account)
    const keys = [{ key: `${key} ${network}`, ...ACCOUNT }]
    const isKnown = and(eq(signInAttempts.key, `known ${key} ${network}`), gt(signInAttempts.endsAt, sql`now()`))
    if ((await db.$count(signInAttempts, isKnown)) === 0) keys.push({ key, ...ACCOUNT_TOTAL })
    return keys
  }

  return {
    /**
     * Counts an attempt of the client, and of the account when given. @throws Unavailable with the time to wait
     * @param kind what is guessed, for example `password`
     */
    async attempt(kind: string, address: string, account?: string): Promise<void> {
      await db.execute(sql`delete from sign_in_attempts where key in (
        select key from sign_in_attempts where ends_at < now() - interval '1 hour' limit 10 for update skip locked)`)
      const network = clientNetwork(address)
      const ofAccount = account === undefined ? [] : await keysOf(kind, network, account)
      await count([{ key: `address:${network}`, ...ADDRESS }, ...ofAccount])
    },
    /** Counts an attempt that `attempt` has counted for its client, also for an account that became known since. @throws Unavailable */
    async attemptOf(kind: string, address: string, account: string): Promise<void> {
      await count(await keysOf(kind, clientNetwork(address), account))
    },
    /**
     * Clears the counters of an account after a successful attempt. The counter of the address stays.
     * @param address of a sign-in: attempts of others no longer lock the user out of its network
     */
    async succeeded(kind: string, account: string, address?: string): Promise<void> {
      const key = accountKey(kind, account)
      await db
        .delete(signInAttempts)
        .where(or(eq(signInAttempts.key, key), sql`starts_with(${signInAttempts.key}, ${`${key} `})`))
      if (address === undefined) return
      const endsAt = sql`now() + make_interval(secs => ${KNOWN_NETWORK_S})`
      await db
        .insert(signInAttempts)
        .values({ key: `known ${key} ${clientNetwork(address)}`, count: 0, endsAt })
        .onConflictDoUpdate({ target: signInAttempts.key, set: { endsAt } })
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
