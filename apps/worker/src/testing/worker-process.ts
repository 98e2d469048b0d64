import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { localStore } from '@muster/core/artifacts'
import { openVault } from '@muster/core/credentials'
import { connectDb } from '@muster/core/db'
import { createListener, createNotifier } from '@muster/core/events'
import { createLog } from '@muster/core/log'
import { createQueue, type QueueEntry } from '@muster/core/queue'
import { quickDerive, TEST_MASTER_PASSWORD } from '@muster/core/testing'
import type { ExecutorConfig } from '../ansible/execution.ts'
import { bubblewrap, noIsolation, type Surroundings } from '../ansible/isolation/isolation.ts'
import { jobRunHandler } from '../handlers/job-run.ts'
import { surroundingsFor } from './isolation.ts'
import { present } from './presence.ts'
import type { RunWorld } from './run-world.ts'

type Given = { url: string; config: ExecutorConfig; surroundings: Surroundings | null; entry: QueueEntry }

/** What such a process does: take one run. */
async function takeRun({ url, config, surroundings, entry }: Given): Promise<void> {
  const log = createLog('worker', process.env.LOG_LEVEL ?? 'silent')
  const { db } = connectDb(url, { max: 3 })
  const vault = await openVault(db, TEST_MASTER_PASSWORD, 1, quickDerive)
  const queue = await createQueue(url, log, 'sender')
  const runtime = { db, queue, notify: createNotifier(url, log).notify, log, vault }
  const listener = await createListener(url, log)
  // A test that fails before it kills this process must not leave it, and its run, behind.
  const stopping = new AbortController()
  process.stdin.resume().once('end', () => stopping.abort())
  const store = localStore(`${config.ANSIBLE_WORK_DIR}/../artifacts`)
  const isolation = surroundings ? bubblewrap(surroundings) : noIsolation(null)
  const deps = { runtime, config, workerId: 'killed', listener, isolation, store, presence: present, stopping: stopping.signal }
  await jobRunHandler(deps)(entry)
  process.exit(0)
}

/** A worker process of its own that takes one run of the world, to be killed in the middle of it. */
export async function startWorkerProcess(world: RunWorld, id: string): Promise<{ kill(): Promise<void> }> {
  const { url, config, isolation } = world
  const surroundings = isolation.mode === 'bubblewrap' ? await surroundingsFor(config) : null
  const given: Given = { url, config, surroundings, entry: { id, tenantId: world.tenant.id } }
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

if (import.meta.main) await takeRun(JSON.parse(process.argv[2]!))
