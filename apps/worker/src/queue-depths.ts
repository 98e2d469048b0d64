import type { Db } from '@muster/core/db'
import { QUEUES, type QueueName } from '@muster/core/queue'
import { sql } from 'drizzle-orm'

/** Entries that wait for a worker, per queue; read from pg-boss's table, since its own statistics may be an hour old. */
export async function queueDepths(db: Db): Promise<Record<QueueName, number>> {
  const { rows } = await db.execute<{ name: QueueName; waiting: number }>(
    sql`select name, count(*)::int as waiting from pgboss.job where state < 'active' group by name`,
  )
  const waiting = new Map(rows.map((row) => [row.name, row.waiting]))
  return Object.fromEntries(QUEUES.map((name) => [name, waiting.get(name) ?? 0])) as Record<QueueName, number>
}
