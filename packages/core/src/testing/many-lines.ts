import { createHash } from 'node:crypto'
import { createListener } from '../kernel/events.ts'
import { claimJobRun } from '../run-queue/index.ts'
import { appendJobRunEvents, finishJobRun, followJobRunEvents, readJobRunLog, runJob } from '../runs/index.ts'
import { testRuntime } from './runtime.ts'

const PER_BATCH = 500
const FOLLOWERS = 3

export type ManyLines = {
  /** Lines that each follower received, in order, without gaps or duplicates. */
  followed: number[]
  /** Lines of the download, and whether it equals the written text byte for byte. */
  downloaded: number
  isSame: boolean
  /** Peak growth of resident memory in MiB. */
  growth: number
}

/** Writes a log of `lines` lines, one event each, follows it while it is written, and downloads it. */
export async function runManyLines(lines: number): Promise<ManyLines> {
  const test = await testRuntime({ notify: 'real' })
  const listener = await createListener(test.url, test.runtime.log)
  try {
    const { operator, worker, viewer, admin } = await test.given.tenant()
    const { id: credentialId } = await test.given.credential(admin, 'SSH_KEY')
    await test.given.fleet(admin, { nodes: 1, with: { credentialId } })
    const { id } = await runJob(operator, { template: 'connectivity_check', limit: 'all' })
    const { token } = (await claimJobRun(worker, { id, workerId: 'w' }))!
    const before = process.memoryUsage.rss()
    let peak = before
    const recordMemory = () => {
      peak = Math.max(peak, process.memoryUsage.rss())
    }

    const followers = Promise.all(
      Array.from({ length: FOLLOWERS }, async () => {
        let seq = 0
        let line = 1
        for await (const page of followJobRunEvents({ db: viewer.db, listener, tenantId: viewer.tenantId }, { id }))
          for (const event of page.events) {
            if (event.seq !== ++seq || event.startLine !== line) throw new Error(`received seq ${event.seq} instead of ${seq}`)
            line += event.lineCount
          }
        return line - 1
      }),
    )
    const written = createHash('sha256')
    for (let first = 0; first < lines; first += PER_BATCH) {
      const createdAt = new Date()
      const events = Array.from({ length: Math.min(PER_BATCH, lines - first) }, (_, i) => {
        const stdout = `ok: [node${(first + i) % 977}] => line ${first + i} of a playbook's output`
        written.update(`${stdout}\n`)
        return { kind: 'ok', host: `node${(first + i) % 977}`, stdout, createdAt }
      })
      await appendJobRunEvents(worker, { id, token, events, after: first })
      recordMemory()
    }
    await finishJobRun(worker, { id, token, hosts: [], endCause: 'exit', exitCode: 0 })
    const followed = await followers

    const read = createHash('sha256')
    let downloaded = 0
    for await (const piece of await readJobRunLog(viewer, id, 'text')) {
      read.update(piece)
      downloaded += piece.split('\n').length - 1
      recordMemory()
    }
    return { followed, downloaded, isSame: read.digest('hex') === written.digest('hex'), growth: (peak - before) / 1024 ** 2 }
  } finally {
    await listener.close()
    await test.close()
  }
}
