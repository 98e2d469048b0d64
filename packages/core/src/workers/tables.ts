import { integer, jsonb, snakeCase, text } from 'drizzle-orm/pg-core'
import { userRef } from '../access/tables.ts'
import { at, createdAt, id } from '../kernel/db/columns.ts'
import type { Observation } from '../kernel/finding.ts'

/** Worker processes, which serve all tenants. A row is deleted when its process exits, or after a day without a sign of life. */
export const workers = snakeCase.table('workers', {
  id: id(),
  /** Unique name of the process in `claimed_by` of runs and in logs: host, pid and a random suffix. */
  name: text().notNull().unique(),
  host: text().notNull(),
  pid: integer().notNull(),
  version: text().notNull(),
  ansibleVersion: text().notNull(),
  /** Sandbox for playbooks, and the reason when it is not the strongest one. `unavailable`: it runs shipped playbooks only. */
  isolation: text().$type<'bubblewrap' | 'uid' | 'none' | 'unavailable'>().notNull().default('none'),
  isolationWeakness: text(),
  /** Results of the system checks that the process made of itself. */
  findings: jsonb().$type<Observation[]>().notNull().default([]),
  /** Maximum and current number of concurrent runs. */
  concurrency: integer().notNull(),
  running: integer().notNull().default(0),
  startedAt: createdAt(),
  /** Last sign of life. */
  lastSeenAt: at().notNull().defaultNow(),
  /** When it stopped taking work. */
  drainedAt: at(),
  drainedById: userRef(),
  drainedByName: text(),
})
export type Worker = typeof workers.$inferSelect
