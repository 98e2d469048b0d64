import { sql } from 'drizzle-orm'
import { timestamp, uuid } from 'drizzle-orm/pg-core'
import { v7 as uuidv7 } from 'uuid'

const RANDOM_BYTES = 16
const randomPool = new Uint8Array(1024 * RANDOM_BYTES)
let [usedBytes, lastMs, sequence] = [randomPool.length, 0, 0]

/**
 * A UUIDv7, created here because Postgres 15 has no function for it. `order by id` is the order of creation. Takes random bytes from a
 * pool, because asking for those of one ID takes most of the time.
 */
export function newId(): string {
  if (usedBytes === randomPool.length) {
    crypto.getRandomValues(randomPool)
    usedBytes = 0
  }
  const random = randomPool.subarray(usedBytes, usedBytes + RANDOM_BYTES)
  usedBytes += RANDOM_BYTES
  const now = Date.now()
  if (now > lastMs) [lastMs, sequence] = [now, ((random[6]! & 0x7f) << 24) | (random[7]! << 16) | (random[8]! << 8) | random[9]!]
  else if (++sequence > 0xffff_ffff) [lastMs, sequence] = [lastMs + 1, 0]
  return uuidv7({ random, msecs: lastMs, seq: sequence })
}

/** Primary key. */
export const id = () => uuid().primaryKey().$defaultFn(newId)

/** A point in time with time zone. */
export const at = () => timestamp({ withTimezone: true })

/** When the row was created, by the database's clock. */
export const createdAt = () => at().notNull().defaultNow()

/** When an update last changed the row, by the database's clock. */
export const updatedAt = () =>
  at()
    .notNull()
    .defaultNow()
    .$onUpdateFn(() => sql`now()`)
