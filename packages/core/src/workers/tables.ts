import { integer, snakeCase, text } from 'drizzle-orm/pg-core'
import { userRef } from '../access/tables.ts'
import { at, createdAt, id } from '../kernel/db/columns.ts'

/** Worker processes. They serve all tenants; a row goes when its process ends, or has long given no sign of life. */
export const workers = snakeCase.table('workers', {
  id: id(),
  /** Names the process in `claimed_by` of runs and in logs: host, pid and something random. */
  name: text().notNull().unique(),
  host: text().notNull(),
  pid: integer().notNull(),
  version: text().notNull(),
  ansibleVersion: text().notNull(),
  /** What it keeps playbooks in on its machine, and why in nothing or not the best. */
  isolation: text().$type<'bubblewrap' | 'uid' | 'none'>().notNull().default('none'),
  isolationWeakness: text(),
  /** How many runs it executes at once, and executes now. */
  concurrency: integer().notNull(),
  running: integer().notNull().default(0),
  startedAt: createdAt(),
  /** Last sign of life. */
  lastSeenAt: at().notNull().defaultNow(),
  /** Since when it takes no more work. */
  drainingAt: at(),
  drainedById: userRef(),
  drainedByName: text(),
})
export type Worker = typeof workers.$inferSelect
