import { sql } from 'drizzle-orm'
import { index, primaryKey, snakeCase, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { at } from '../kernel/db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'
import { jobRuns } from '../runs/tables.ts'

/**
 * The line at each node: runs that change it, in the order of their ids, which is the order of their creation. One at most has
 * acquired the node; a run acquires all its nodes at once. The row goes when the run ends, however it ends.
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
    /** Null while it waits. A lock that was acquired lasts as long as its run is touched. */
    acquiredAt: at(),
  },
  (t) => [
    primaryKey({ columns: [t.nodeId, t.jobRunId] }),
    index().on(t.jobRunId),
    uniqueIndex('node_locks_acquired_unique').on(t.nodeId).where(sql`acquired_at is not null`),
  ],
)
