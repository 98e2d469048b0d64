import { setTimeout } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { fromDrizzle, PgBoss } from 'pg-boss'
import type { Db, Tx } from './db/client.ts'
import type { Log } from './log.ts'

/** Queues that trigger workers. An entry contains only a row's ID; the row determines the work. */
export type QueueDefinition = { readonly name: string }
export const defineQueue = (name: string): QueueDefinition => ({ name })
export type QueueEntry = { id: string; tenantId: string }

export type Queue = {
  /** Triggers a worker for these rows when `tx` commits. */
  send(tx: Tx, queue: QueueDefinition, entries: QueueEntry[]): Promise<void>
  /**
   * Handles entries, up to `concurrency` at once. Each entry is delivered once. When a handler throws, the error is logged and the
   * entry is complete, because the row and its reconciler decide what happens next.
   */
  work(queue: QueueDefinition, concurrency: number, handle: (entry: QueueEntry) => Promise<void>): Promise<void>
  /** Takes no entries until `resume()`. Running handlers continue. */
  pause(): void
  resume(): Promise<void>
  /** Stops taking entries and waits up to `graceMs` for running handlers. */
  close(graceMs?: number): Promise<void>
}

// Entries of a dead worker stay active this long. That is harmless, because an entry is only a trigger: a reconciler fails or
// enqueues the row again.
const EXPIRE_S = 24 * 3600

/** Creates or updates the tables of the queue. `url` is that of the database's owner. */
export async function migrateQueue(url: string): Promise<void> {
  const boss = new PgBoss({
    connectionString: url,
    application_name: 'muster-migrate',
    max: 1,
    supervise: false,
    schedule: false,
  })
  const errors: Error[] = []
  boss.on('error', (error) => errors.push(error))
  await boss.start()
  await boss.stop({ graceful: false })
  if (errors.length > 0) throw errors[0]
}

/** @param role `sender` never handles entries (API, tests); `worker` also maintains the queue's tables */
export async function createQueue(
  url: string,
  log: Log,
  role: 'sender' | 'worker',
  queues: readonly QueueDefinition[],
): Promise<Queue> {
  const boss = new PgBoss({
    connectionString: url,
    application_name: `muster-queue-${role}`,
    max: role === 'worker' ? 4 : 2,
    useListenNotify: role === 'worker',
    supervise: role === 'worker',
    schedule: false,
    migrate: false,
    createSchema: false,
  })
  boss.on('error', (error) => log.warn({ err: error }, 'queue'))
  await boss.start()
  for (const { name } of queues)
    await boss.createQueue(name, { retryLimit: 0, expireInSeconds: EXPIRE_S, deleteAfterSeconds: 3600, notify: true })

  const running = new Set<Promise<void>>()
  let isPaused = false
  const pollers: { start(): Promise<void>; stop(): void }[] = []
  return {
    async send(tx, { name }, entries) {
      if (entries.length === 0) return
      await boss.insert(
        name,
        entries.map((data) => ({ data })),
        { db: fromDrizzle(tx, sql) },
      )
    },
    async work({ name }, concurrency, handle) {
      // One fetch for many entries: one poller per slot would query once per entry and every second. Takes only as many as can
      // start immediately, so that none waits here while another worker is free.
      const batchSize = Math.min(Math.ceil(concurrency / 4), 8)
      let free = concurrency
      let freed = () => {}
      const run = async (entry: QueueEntry) => {
        try {
          await handle(entry)
        } catch (error) {
          log.error({ err: error, queue: name, id: entry.id }, 'handler failed')
        }
        free++
        freed()
      }
      let poller: string | undefined
      const start = async () => {
        poller = await boss.work<QueueEntry>(
          name,
          { batchSize, pollingIntervalSeconds: 1, notifyPollingIntervalSeconds: 5 },
          async (jobs) => {
            for (const { data } of jobs) {
              free--
              const task = run(data).then(() => void running.delete(task))
              running.add(task)
            }
            while (free < batchSize && !isPaused) await new Promise<void>((resolve) => (freed = resolve))
            // There may be more entries. Notifications that arrived since then trigger the poller themselves.
            if (poller && jobs.length === batchSize) boss.notifyWorker(poller)
          },
        )
      }
      const stop = () => {
        void boss.offWork(name, { wait: false })
        freed()
      }
      pollers.push({ start, stop })
      await start()
    },
    pause() {
      isPaused = true
      for (const poller of pollers) poller.stop()
    },
    async resume() {
      isPaused = false
      for (const poller of pollers) await poller.start()
    },
    async close(graceMs = 5000) {
      const timeout = new AbortController()
      const graceEnd = setTimeout(graceMs, null, { signal: timeout.signal }).catch(() => {})
      await boss.stop({ graceful: true, timeout: graceMs })
      await Promise.race([Promise.all(running), graceEnd])
      timeout.abort()
    },
  }
}

/** Backlog of a queue: number of waiting entries and age of the oldest in seconds (0 when empty). */
export type QueueBacklog = { depth: number; oldestSeconds: number }

/** The backlog of every queue with waiting entries, by name, from pg-boss's table: its own statistics may be an hour old. */
export async function queueBacklogs(db: Db): Promise<Map<string, QueueBacklog>> {
  const { rows } = await db.execute<QueueBacklog & { name: string }>(
    sql`select name, count(*)::int as depth, greatest(0, extract(epoch from now() - min(created_on)))::float8 as "oldestSeconds"
      from pgboss.job where state < 'active' group by name`,
  )
  return new Map(rows.map(({ name, ...backlog }) => [name, backlog]))
}
