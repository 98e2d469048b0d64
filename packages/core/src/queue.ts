import { sql } from 'drizzle-orm'
import { fromDrizzle, PgBoss } from 'pg-boss'
import type { Tx } from './context.ts'
import type { Log } from './log.ts'

/** What a worker can be woken for. An entry holds the row's id only; the row says what is to be done, and whether still. */
export const QUEUES = ['job-run', 'connection-test', 'discovery'] as const
export type QueueName = (typeof QUEUES)[number]
export type QueueEntry = { id: string; tenantId: string }

export type Queue = {
  /** Wake a worker for these rows, if and when `tx` commits. */
  send(tx: Tx, name: QueueName, entries: QueueEntry[]): Promise<void>
  /**
   * Handle entries, up to `concurrency` at once. An entry is handed out once; a handler that throws is logged and its
   * entry is done with, since the row and its reconciler decide what happens next.
   */
  work(name: QueueName, concurrency: number, handle: (entry: QueueEntry) => Promise<void>): Promise<void>
  /** Stop taking entries; wait up to `graceMs` for the ones under way. */
  close(graceMs?: number): Promise<void>
}

const LONGEST_S = 24 * 3600

/** @param role `sender` never handles entries (api, tests); `worker` also keeps the queue's own tables tidy. */
export async function createQueue(url: string, log: Log, role: 'sender' | 'worker'): Promise<Queue> {
  const boss = new PgBoss({
    connectionString: url,
    application_name: `muster-queue-${role}`,
    max: role === 'worker' ? 4 : 2,
    useListenNotify: role === 'worker',
    supervise: role === 'worker',
    schedule: false,
  })
  boss.on('error', (error) => log.warn({ err: error }, 'queue'))
  await boss.start()
  for (const name of QUEUES)
    await boss.createQueue(name, { retryLimit: 0, expireInSeconds: LONGEST_S, deleteAfterSeconds: 3600, notify: true })

  return {
    async send(tx, name, entries) {
      if (entries.length === 0) return
      await boss.insert(
        name,
        entries.map((data) => ({ data })),
        { db: fromDrizzle(tx, sql) },
      )
    },
    async work(name, concurrency, handle) {
      const handleOne = async (data: QueueEntry) => {
        try {
          await handle(data)
        } catch (error) {
          log.error({ err: error, queue: name, id: data.id }, 'handler failed')
        }
      }
      const options = { pollingIntervalSeconds: 1, notifyPollingIntervalSeconds: 5 }
      for (let i = 0; i < concurrency; i++) {
        let id = ''
        id = await boss.work<QueueEntry>(name, options, async ([job]) => {
          if (job) await handleOne(job.data)
          // A wake-up for another entry is not heard while one is handled, and that entry would wait for the next poll.
          boss.notifyWorker(id)
        })
      }
    },
    close: (graceMs = 5000) => boss.stop({ graceful: true, timeout: graceMs }),
  }
}
