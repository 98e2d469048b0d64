import { sql } from 'drizzle-orm'
import { index, primaryKey, snakeCase, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { at } from '../kernel/db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'
import { jobRuns } from '../runs/tables.ts'

/**
 * Lock queue of each node: the runs that change it, ordered by id, which is the order of creation. At most one run holds a node's
 * lock. A run acquires all its locks at once. The row is deleted when the run ends.
 */
export const nodeLocks = snakeCase.table(
  'node_locks',
  {
    nodeId: uuid()
      .notNull()
      .references(() => computeNodes.id, { onDelete: 'cascade' }),
    jobRunId: uuid()
      .notNull()
      .references(() => jobRuns.id, { onDelete: 'cascade' }),
    /** Null while it waits. The lock is valid while the worker of the run sends heartbeats. */
    acquiredAt: at(),
  },
  (t) => [
    primaryKey({ columns: [t.nodeId, t.jobRunId] }),
    index().on(t.jobRunId),
    uniqueIndex('node_locks_acquired_unique').on(t.nodeId).where(sql`acquired_at is not null`),
  ],
)
