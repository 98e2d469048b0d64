import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import type { Log } from '../log.ts'
import type { Db } from './client.ts'

const RETRY_MS = 2000

/**
 * Waits until the database answers and has its tables; logs the reason for waiting every two seconds.
 * @throws the signal's reason when it aborts first
 */
export async function awaitDatabase(db: Db, log: Log, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    try {
      await db.execute(sql`select 1 from credential_keys limit 1`)
      return
    } catch (error) {
      // Drizzle wraps errors of the driver.
      const cause = ((error as Error).cause ?? error) as Error & { code?: string }
      const reason =
        cause.code === '42P01' ? 'it has no tables yet: migrate it' : cause.message || cause.code || 'it does not answer'
      log.warn({ reason }, 'waiting for the database at DATABASE_URL')
      await sleep(RETRY_MS, undefined, { signal }).catch(() => {})
    }
  }
}
