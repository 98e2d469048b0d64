import { sql } from 'drizzle-orm'
import { timestamp, uuid } from 'drizzle-orm/pg-core'
import { v7 as uuidv7 } from 'uuid'

/** A UUIDv7, created here because Postgres 15 has no function for it. `order by id` is the order of creation. */
export const newId = (): string => uuidv7()

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
