import type { Runtime } from '../context.ts'
import { openVault } from '../credentials/index.ts'
import { connectDb } from '../db/client.ts'
import { createNotifier, type Nudge } from '../events.ts'
import { createLog } from '../log.ts'
import { createQueue } from '../queue.ts'
import { createTestDatabase } from './database.ts'
import { type Given, storyOf } from './given.ts'
import { quickDerive, TEST_MASTER_PASSWORD } from './master-password.ts'

export type TestRuntime = {
  runtime: Runtime
  url: string
  /** Everything nudged so far, oldest first. */
  nudges: Nudge[]
  given: Given
  /** Close what was opened and drop the database. */
  close(): Promise<void>
}

/**
 * A database of one's own and all that verbs need. Nudges are recorded, and with `notify: 'real'` also sent, so that listeners
 * on `url` hear them. With `vault: 'real'` a process of its own can open the credentials with TEST_MASTER_PASSWORD.
 */
export async function testRuntime(
  options: { notify?: 'recorded' | 'real'; vault?: 'quick' | 'real' } = {},
): Promise<TestRuntime> {
  const database = await createTestDatabase()
  const { db, close } = connectDb(database.url, { max: 5, name: 'muster-test' })
  const log = createLog('test', process.env.LOG_LEVEL ?? 'silent')
  const queue = await createQueue(database.url, log, 'sender')
  const vault = await openVault(db, TEST_MASTER_PASSWORD, 1, options.vault === 'real' ? undefined : quickDerive)
  const notifier = options.notify === 'real' ? createNotifier(database.url, log) : null
  const nudges: Nudge[] = []
  const runtime: Runtime = {
    db,
    queue,
    log,
    vault,
    notify(nudge) {
      nudges.push(nudge)
      notifier?.notify(nudge)
    },
  }
  return {
    runtime,
    url: database.url,
    nudges,
    given: storyOf(runtime),
    async close() {
      await queue.close(0)
      await notifier?.close()
      await close()
      await database.drop()
    },
  }
}
