import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { localStore } from '@muster/core/artifacts'
import { openVault } from '@muster/core/credentials'
import { connectDb, connectTenants, roleUrls } from '@muster/core/db'
import { createListener, createNotifier } from '@muster/core/events'
import { createLog } from '@muster/core/log'
import { createQueue, type QueueEntry } from '@muster/core/queue'
import { queues } from '@muster/core/registry'
import { fastDeriveKey, TEST_MASTER_PASSWORD } from '@muster/core/testing'
import type { ExecutorConfig } from '../ansible/deps.ts'
import { bubblewrap, noIsolation, type VisiblePaths } from '../ansible/isolation/isolation.ts'
import { jobRunHandler } from '../handlers/job-run.ts'
import { fakeRegistration } from './fake-registration.ts'
import { createVisiblePaths } from './isolation.ts'
import type { RunFixture } from './run-fixture.ts'

type ExecuteRunInput = {
  url: string
  config: ExecutorConfig
  surroundings: VisiblePaths | null
  isRoot: boolean
  entry: QueueEntry
}

/** Executes one run; the main function of the process. */
async function executeRun({ url, config, surroundings, isRoot, entry }: ExecuteRunInput): Promise<void> {
  const log = createLog('worker', process.env.LOG_LEVEL ?? 'silent')
  const urls = roleUrls({ DATABASE_URL: url })
  const { db } = connectDb(urls.system, { max: 3 })
  const { tenantDb } = connectTenants(urls.app, { max: 3 })
  const vault = await openVault(db, TEST_MASTER_PASSWORD, 1, fastDeriveKey)
  const queue = await createQueue(urls.system, log, 'sender', queues)
  const actor = { kind: 'worker', id: 'killed', name: 'killed' } as const
  const runtime = { db, tenantDb, queue, notify: createNotifier(url, log).notify, log, vault, actor }
  const listener = await createListener(url, log)
  // Ends this process and its run when a test fails before it kills them.
  const stopping = new AbortController()
  process.stdin.resume().once('end', () => stopping.abort())
  const store = localStore(`${config.ANSIBLE_WORK_DIR}/../artifacts`)
  const isolation = surroundings ? bubblewrap(surroundings, { isRoot }) : noIsolation(null)
  const deps = {
    runtime,
    config,
    workerId: 'killed',
    listener,
    isolation,
    store,
    presence: fakeRegistration,
    stopping: stopping.signal,
  }
  await jobRunHandler(deps)(entry)
  process.exit(0)
}

/** Starts a worker process that executes one run of the fixture, so that a test can kill it. */
export async function spawnRunWorker(fixture: RunFixture, id: string): Promise<{ kill(): Promise<void> }> {
  const { url, config, isolation } = fixture
  const surroundings = isolation.mode === 'bubblewrap' ? await createVisiblePaths(config) : null
  const user = isolation.user()
  isolation.release(user)
  const entry = { id, tenantId: fixture.tenant.id }
  const given: ExecuteRunInput = { url, config, surroundings, isRoot: user !== null, entry }
  const worker = spawn(process.execPath, [import.meta.filename, JSON.stringify(given)], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const exited = once(worker, 'exit')
  return {
    async kill() {
      worker.kill('SIGKILL')
      await exited
    },
  }
}

if (import.meta.main) await executeRun(JSON.parse(process.argv[2]!))
