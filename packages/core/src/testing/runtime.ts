import pg from 'pg'
import { openVault } from '../credentials/index.ts'
import { SYSTEM } from '../kernel/context.ts'
import { connectDb } from '../kernel/db/client.ts'
import type { RoleUrls } from '../kernel/db/role-urls.ts'
import { connectTenants } from '../kernel/db/tenant-db.ts'
import { type ChangeEvent, createNotifier } from '../kernel/events.ts'
import { createLog } from '../kernel/log.ts'
import { createQueue } from '../kernel/queue.ts'
import { queues, type Runtime, relations, type SystemCtx } from '../registry.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { createFactories, type Factories } from './factories.ts'
import { fastDeriveKey, TEST_MASTER_PASSWORD } from './master-password.ts'

export type TestRuntime = {
  /** Acts as Muster itself, with the system role. */
  runtime: Runtime & SystemCtx
  /** URL of the database's owner, from which processes derive `roles`. */
  url: string
  roles: RoleUrls
  /** Connections of the application role. */
  appPool: pg.Pool
  /** Runs SQL as the owner of the database, who can change its schema and end connections. */
  asOwner(statements: string): Promise<void>
  /** All change events so far, oldest first. */
  changeEvents: ChangeEvent[]
  given: Factories
  /** Closes all connections and drops the database. */
  close(): Promise<void>
}

/**
 * Creates a database and a runtime for verbs. Change events are recorded; `notify: 'real'` also sends them to listeners on `url`.
 * `vault: 'real'` lets other processes decrypt credentials with TEST_MASTER_PASSWORD. `database` is used in place of a new one.
 */
export async function testRuntime(
  options: { notify?: 'recorded' | 'real'; vault?: 'quick' | 'real'; database?: TestDatabase } = {},
): Promise<TestRuntime> {
  const database = options.database ?? (await createTestDatabase())
  const { db, close } = connectDb(database.roles.system, { max: 5, name: 'muster-test', relations })
  const app = connectTenants(database.roles.app, { max: 5, name: 'muster-test', relations })
  const log = createLog('test', process.env.LOG_LEVEL ?? 'silent')
  const queue = await createQueue(database.roles.system, log, 'sender', queues)
  const vault = await openVault(db, TEST_MASTER_PASSWORD, 1, options.vault === 'real' ? undefined : fastDeriveKey)
  const notifier = options.notify === 'real' ? createNotifier(database.url, log) : null
  const changeEvents: ChangeEvent[] = []
  const runtime: Runtime & SystemCtx = {
    db,
    tenantDb: app.tenantDb,
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
    roles: database.roles,
    appPool: app.pool,
    async asOwner(statements) {
      const owner = new pg.Client({ connectionString: database.url })
      await owner.connect()
      await owner.query(statements).finally(() => owner.end())
    },
    changeEvents,
    given: createFactories(runtime),
    async close() {
      await queue.close(0)
      await notifier?.close()
      await app.close()
      await close()
      await database.drop()
    },
  }
}
