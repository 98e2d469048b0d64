import { openVault } from '../credentials/index.ts'
import { SYSTEM } from '../kernel/context.ts'
import { connectDb } from '../kernel/db/client.ts'
import { type ChangeEvent, createNotifier } from '../kernel/events.ts'
import { createLog } from '../kernel/log.ts'
import { createQueue } from '../kernel/queue.ts'
import { queues, type Runtime, relations, type SystemCtx } from '../registry.ts'
import { createTestDatabase } from './database.ts'
import { createFactories, type Factories } from './factories.ts'
import { fastDeriveKey, TEST_MASTER_PASSWORD } from './master-password.ts'

export type TestRuntime = {
  /** Acts as Muster itself. */
  runtime: Runtime & SystemCtx
  url: string
  /** All change events so far, oldest first. */
  changeEvents: ChangeEvent[]
  given: Factories
  /** Closes all connections and drops the database. */
  close(): Promise<void>
}

/**
 * Creates a database and a runtime for verbs. Change events are recorded; `notify: 'real'` also sends them to listeners on `url`.
 * `vault: 'real'` lets other processes decrypt credentials with TEST_MASTER_PASSWORD.
 */
export async function testRuntime(
  options: { notify?: 'recorded' | 'real'; vault?: 'quick' | 'real' } = {},
): Promise<TestRuntime> {
  const database = await createTestDatabase()
  const { db, close } = connectDb(database.url, { max: 5, name: 'muster-test', relations })
  const log = createLog('test', process.env.LOG_LEVEL ?? 'silent')
  const queue = await createQueue(database.url, log, 'sender', queues)
  const vault = await openVault(db, TEST_MASTER_PASSWORD, 1, options.vault === 'real' ? undefined : fastDeriveKey)
  const notifier = options.notify === 'real' ? createNotifier(database.url, log) : null
  const changeEvents: ChangeEvent[] = []
  const runtime: Runtime & SystemCtx = {
    db,
    actor: SYSTEM,
    queue,
    log,
    vault,
    notify(changeEvent) {
      changeEvents.push(changeEvent)
      notifier?.notify(changeEvent)
    },
  }
  return {
    runtime,
    url: database.url,
    changeEvents,
    given: createFactories(runtime),
    async close() {
      await queue.close(0)
      await notifier?.close()
      await close()
      await database.drop()
    },
  }
}
