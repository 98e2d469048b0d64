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
import { jobRunHandler } from '../handlers/job-run.ts'
import { present } from './presence.ts'
import type { RunWorld } from './run-world.ts'

/** What such a process does: take one run. */
async function takeRun({ url, config, entry }: { url: string; config: ExecutorConfig; entry: QueueEntry }): Promise<void> {
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
  await jobRunHandler({ runtime, config, workerId: 'killed', listener, store, presence: present, stopping: stopping.signal })(
    entry,
  )
  process.exit(0)
}

/** A worker process of its own that takes one run of the world, to be killed in the middle of it. */
export async function startWorkerProcess(world: RunWorld, id: string): Promise<{ kill(): Promise<void> }> {
  const given: Parameters<typeof takeRun>[0] = { url: world.url, config: world.config, entry: { id, tenantId: world.tenant.id } }
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
