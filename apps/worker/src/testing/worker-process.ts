import { openVault } from '@muster/core/credentials'
import { connectDb } from '@muster/core/db'
import { createListener, createNotifier } from '@muster/core/events'
import { createLog } from '@muster/core/log'
import { createQueue, type QueueEntry } from '@muster/core/queue'
import { quickDerive, TEST_MASTER_PASSWORD } from '@muster/core/testing'
import type { ExecutorConfig } from '../ansible/execute-run.ts'
import { jobRunHandler } from '../handlers/job-run.ts'

/** A process that takes one run, so that a test can kill it. */
export async function worker({ url, config, entry }: { url: string; config: ExecutorConfig; entry: QueueEntry }): Promise<void> {
  const log = createLog('worker', process.env.LOG_LEVEL ?? 'silent')
  const { db } = connectDb(url, { max: 3 })
  const vault = await openVault(db, TEST_MASTER_PASSWORD, 1, quickDerive)
  const queue = await createQueue(url, log, 'sender')
  const runtime = { db, queue, notify: createNotifier(url, log).notify, log, vault }
  const listener = await createListener(url, log)
  await jobRunHandler({ runtime, config, workerId: 'killed', listener, stopping: new AbortController().signal })(entry)
}
