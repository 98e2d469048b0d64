import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { connectDb } from '@muster/core/db'
import { createLog } from '@muster/core/log'
import { createQueue } from '@muster/core/queue'
import { queues } from '@muster/core/registry'
import { jobRunQueue } from '@muster/core/runs'
import { startTestPostgres } from '@muster/standalone'
import pg from 'pg'
import type { Bench } from '../bench.ts'
import { interleave, percentile } from '../compare.ts'
import { installPeer } from '../peer-process.ts'

const ENTRIES = 300
const MAX_GAP_MS = 20
const MAX_P99_MS = 50
/** Concurrent handlers; the default of a worker. */
const CONCURRENCY = 4
const LOST_MS = 30_000

/** `enqueue` resolves once the entry is committed. */
type Contender = { enqueue(id: string): Promise<void>; stop(): Promise<void> }

/**
 * Time from enqueueing an entry to the start of its handler. Peer: graphile-worker. Both write the entry in a transaction and wake up
 * by LISTEN/NOTIFY. `--entries` sets the size.
 */
export const bench: Bench = async ({ rounds, print, option, random }) => {
  const entries = option('entries', ENTRIES)
  const gap = () => sleep(random() * MAX_GAP_MS)
  const program = `${installPeer('graphile-worker')}/node_modules/graphile-worker/dist/index.js`
  const postgres = await startTestPostgres()
  const begun = new Map<string, number>()
  const handle = (id: string) => {
    if (begun.has(id)) throw new Error(`${id} was handled twice`)
    begun.set(id, performance.now())
  }
  const ours = await openOurs(postgres.url, handle)
  const theirs = await openGraphileWorker(program, postgres.url, handle)
  try {
    await pickups(ours, begun, entries, gap)
    await pickups(theirs, begun, entries, gap)
    const p99s: { ours: number[]; theirs: number[] } = { ours: [], theirs: [] }
    const measured = (contender: Contender, p99: number[]) => async () => {
      const ms = await pickups(contender, begun, entries, gap)
      p99.push(percentile(ms, 0.99))
      return percentile(ms, 0.5)
    }
    const samples = await interleave(measured(ours, p99s.ours), measured(theirs, p99s.theirs), rounds, print)
    const format = (values: number[]) => values.map((ms) => ms.toFixed(1)).join(', ')
    print(`p99 of each round: ours ${format(p99s.ours)} ms; graphile-worker ${format(p99s.theirs)} ms`)
    return [
      { comparison: { what: 'pickup_p50', unit: 'ms', kind: 'cost', goal: 1.5 }, samples },
      {
        comparison: { what: 'pickup_p99', unit: 'ms', kind: 'cost', goal: 1 },
        samples: p99s.ours.map((ms) => ({ ours: ms, peer: MAX_P99_MS })),
      },
    ]
  } finally {
    await ours.stop()
    await theirs.stop()
    await postgres.stop()
  }
}

/** Enqueues entries one after the other with random pauses. @returns the ms until the handler of each entry started */
async function pickups(
  { enqueue }: Contender,
  begun: Map<string, number>,
  entries: number,
  gap: () => Promise<void>,
): Promise<number[]> {
  const asked = new Map<string, number>()
  for (let i = 0; i < entries; i++) {
    await gap()
    const id = randomUUID()
    asked.set(id, performance.now())
    await enqueue(id)
  }
  const ids = [...asked.keys()]
  for (const end = performance.now() + LOST_MS; !ids.every((id) => begun.has(id)); await sleep(20))
    if (performance.now() > end) throw new Error(`${ids.filter((id) => !begun.has(id)).length} of ${entries} entries were lost`)
  return ids.map((id) => begun.get(id)! - asked.get(id)!)
}

async function openOurs(url: string, handle: (id: string) => void): Promise<Contender> {
  const log = createLog('bench', 'warn')
  const { db, close } = connectDb(url, { max: 2 })
  const worker = await createQueue(url, log, 'worker', queues)
  const sender = await createQueue(url, log, 'sender', queues)
  await worker.work(jobRunQueue, CONCURRENCY, async ({ id }) => handle(id))
  const tenantId = randomUUID()
  return {
    enqueue: (id) => db.transaction((tx) => sender.send(tx, jobRunQueue, [{ id, tenantId }])),
    async stop() {
      await Promise.all([worker.close(), sender.close()])
      await close()
    },
  }
}

type GraphileWorker = {
  run(options: object): Promise<{ stop(): Promise<void> }>
  Logger: new (factory: () => (level: string, message: string) => void) => object
}

async function openGraphileWorker(program: string, connectionString: string, handle: (id: string) => void): Promise<Contender> {
  const { run, Logger } = (await import(pathToFileURL(program).href)) as GraphileWorker
  const pool = new pg.Pool({ connectionString, max: CONCURRENCY + 3 })
  // graphile-worker requires both handlers.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const runner = await run({
    pgPool: pool,
    concurrency: CONCURRENCY,
    noHandleSignals: true,
    crontab: '',
    logger: new Logger(() => (level, message) => void (level === 'error' && process.stderr.write(`${message}\n`))),
    taskList: { pickup: async ({ id }: { id: string }) => handle(id) },
  })
  return {
    async enqueue(id) {
      const client = await pool.connect()
      try {
        await client.query('begin')
        await client.query('select graphile_worker.add_job($1, $2::json)', ['pickup', JSON.stringify({ id })])
        await client.query('commit')
      } finally {
        client.release()
      }
    },
    async stop() {
      await runner.stop()
      await pool.end()
    },
  }
}
