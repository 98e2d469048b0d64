import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { broadcast } from '../broadcast-peer.ts'
import { type Client, connect } from '../client.ts'
import { percentile, type Sample } from '../compare.ts'
import { cpuSeconds } from '../cpu.ts'
import { NEWEST_RUNS } from '../documents.ts'
import type { ResultOf } from '../graphql.ts'
import { followLightly, type Received } from '../light-follower.ts'
import { callbackFlood } from '../load/callback.ts'
import { naiveNotify } from '../naive-notify.ts'
import { addUnreachableNode, type LogEvent, runJob, signIn } from '../onboard.ts'
import { startProduct } from '../product.ts'

const RUNS = 100
const FOLLOWERS_PER_RUN = 10
const RECONNECTS = 100
const SECONDS = 5
const MAX_LAG_MS = 100
const STARTUP_MS = 2000

/**
 * Runs that together emit `--rate` lines per second (default 10,000), with `--followers` subscribers per run and without any. Then the
 * same lines as fast as possible (our capacity), beside a bare WebSocket server that broadcasts the same bytes to the same number of
 * clients, and the lag at half of the measured capacity. Further sizes: `--runs`, `--seconds`.
 */
export const bench: Bench = async ({ rounds, print, option }) => {
  const rate = option('rate', 10_000)
  const runs = option('runs', RUNS)
  const followersPerRun = option('followers', FOLLOWERS_PER_RUN)
  const seconds = option('seconds', SECONDS)
  const linesPerRun = Math.ceil((rate / runs) * seconds)
  const reconnects = Math.min(RECONNECTS, runs)
  const dir = mkdtempSync(join(tmpdir(), 'mf-'))
  const flood = callbackFlood(dir)
  // A worker claims more runs once a quarter of its slots is free; with spare slots all runs are active at once.
  const product = await startProduct({ ...flood.env, JOB_RUNNER_CONCURRENCY: String(Math.ceil(runs * 1.6)) })
  try {
    let token: string | null = null
    const api = connect(product.url, () => token)
    token = await signIn(api, product.linkToken)
    for (let i = 0; i < runs; i++) await addUnreachableNode(api, `node${i}`)

    /** One set of runs. @param ratePerRun lines per second; null: unlimited */
    const once = async (ratePerRun: number | null, followers: number, dropped: number) => {
      flood.set({ events: linesPerRun, rate: ratePerRun }, true)
      const ids: string[] = []
      for (let i = 0; i < runs; i++) ids.push(await runJob(api, { template: 'connectivity_check', limit: `node${i}` }))
      const lags: number[] = []
      const received: Received = { messages: 0, bytes: 0 }
      let n = 0
      const following = ids.flatMap((id) =>
        Array.from({ length: followers }, () =>
          follow(product.url, token!, id, lags, received, dropAfter(n++, dropped, linesPerRun)),
        ),
      )
      await newestRuns(api, runs, (run) => run.ansibleStartedAt !== null)
      // Excludes the CPU of the starting processes.
      await new Promise((resolve) => setTimeout(resolve, STARTUP_MS))
      const cpu = () => ({ ...product.cpu(), clients: cpuSeconds([process.pid]) })
      const before = cpu()
      const began = Date.now()
      flood.release()
      const delivered = (await Promise.all(following)).reduce((sum, lines) => sum + lines, 0)
      const deliveredAt = Date.now()
      const ended = await newestRuns(api, runs, (run) => run.finishedAt !== null)
      const after = cpu()
      const lines = ended.reduce((sum, run) => sum + Number(run.lineCount), 0)
      if (lines !== linesPerRun * runs) throw new Error(`${lines} of ${linesPerRun * runs} lines were written`)
      if (delivered !== lines * followers) throw new Error(`${delivered} of ${lines * followers} lines were delivered`)
      const finishedAt = Math.max(...ended.map((run) => Date.parse(run.finishedAt!)))
      return {
        lines,
        linesPerSecond: lines / ((finishedAt - began) / 1000),
        lags,
        received,
        bytesPerSecond: received.bytes / ((deliveredAt - began) / 1000),
        apiSeconds: after.api - before.api,
        cpu: Object.entries(after).map(([name, s]) => ({
          name,
          perLine: ((s - before[name as keyof typeof before]) * 1e6) / lines,
        })),
      }
    }

    const samples: Record<'write' | 'lag' | 'limit' | 'half', Sample[]> = { write: [], lag: [], limit: [], half: [] }
    await once(rate / runs, followersPerRun, 0)
    for (let round = 1; round <= rounds; round++) {
      const without = await once(rate / runs, 0, 0)
      const live = await once(rate / runs, followersPerRun, reconnects)
      const p99 = percentile(live.lags, 0.99)
      samples.write.push({ ours: live.linesPerSecond, peer: without.linesPerSecond })
      samples.lag.push({ ours: p99, peer: MAX_LAG_MS })
      print(
        `round ${round} of ${rounds}: ${Math.round(live.linesPerSecond)} lines/s with followers, ${Math.round(without.linesPerSecond)} without; lag p50 ${percentile(live.lags, 0.5)} ms, p99 ${p99} ms`,
      )
      // Other load on the machine affects CPU per line less than times.
      const costs = live.cpu.map(
        ({ name, perLine }, i) => `${name} ${perLine.toFixed(0)} (${without.cpu[i]!.perLine.toFixed(0)} without followers)`,
      )
      print(`CPU per line and ${followersPerRun} followers, in µs: ${costs.join(', ')}`)

      const full = await once(null, followersPerRun, 0)
      const { messages, bytes } = full.received
      const clients = runs * followersPerRun
      const limit = await broadcast({
        clients,
        messages: Math.ceil(messages / clients),
        bytes: Math.ceil(bytes / messages),
      })
      samples.limit.push({ ours: full.bytesPerSecond, peer: limit.bytesPerSecond })
      print(
        `capacity ${Math.round(full.linesPerSecond)} lines/s, ${(full.bytesPerSecond / 1e6).toFixed(1)} MB/s in ${messages} messages; bare server ${(limit.bytesPerSecond / 1e6).toFixed(1)} MB/s: ratio ${(full.bytesPerSecond / limit.bytesPerSecond).toFixed(3)}. Server CPU per MB: API ${((full.apiSeconds / bytes) * 1e9).toFixed(1)} ms, bare server ${(limit.cpuPerMb * 1000).toFixed(1)} ms`,
      )
      const half = await once(full.linesPerSecond / 2 / runs, followersPerRun, 0)
      samples.half.push({ ours: percentile(half.lags, 0.99), peer: MAX_LAG_MS })
      print(`at half of the capacity: lag p99 ${percentile(half.lags, 0.99)} ms`)
    }
    const naive = await naiveNotify(product.databaseUrl)
    print(`for comparison, a NOTIFY in the transaction of each row: ${naive.toFixed(2)} of the write rate without`)
    return [
      {
        comparison: { what: 'write_rate_with_followers', unit: 'lines/s', kind: 'throughput', goal: 0.95 },
        samples: samples.write,
      },
      { comparison: { what: 'line_to_client_p99', unit: 'ms', kind: 'cost', goal: 1 }, samples: samples.lag },
      {
        comparison: { what: 'capacity_vs_bare_broadcast', unit: 'bytes/s', kind: 'throughput', goal: 0.7 },
        samples: samples.limit,
      },
      { comparison: { what: 'half_capacity_p99', unit: 'ms', kind: 'cost', goal: 1 }, samples: samples.half },
    ]
  } finally {
    await product.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Number of lines after which the nth follower drops its connection; the drops are spread over the whole log. */
const dropAfter = (n: number, reconnects: number, lines: number) =>
  n < reconnects ? 1 + Math.floor((n / reconnects) * lines) : Number.POSITIVE_INFINITY

/** Follows a log to its end and drops the connection once, after `dropAt` lines. @returns the number of lines, each received once and in order */
async function follow(
  url: string,
  token: string,
  id: string,
  lags: number[],
  received: Received,
  dropAt: number,
): Promise<number> {
  let seq = 0
  let lines = 0
  let willDrop = true
  // Parsed once for all events with the same timestamp.
  let timestamp = { text: '', ms: 0 }
  const onEvents = (events: readonly LogEvent[]) => {
    const now = Date.now()
    for (const event of events) {
      if (event.seq !== ++seq) throw new Error(`received event ${event.seq} instead of ${seq}`)
      if (event.kind !== 'OK') continue
      lines++
      if (event.createdAt !== timestamp.text) timestamp = { text: event.createdAt, ms: Date.parse(event.createdAt) }
      lags.push(now - timestamp.ms)
    }
    if (!willDrop || lines < dropAt) return false
    willDrop = false
    return true
  }
  while (!(await followLightly(url, token, { id, after: seq }, onEvents, received)));
  return lines
}

type Run = ResultOf<typeof NEWEST_RUNS>['jobRuns']['edges'][number]['node']

/** The newest `count` runs, once all of them fulfill the condition. */
async function newestRuns(api: Client, count: number, condition: (run: Run) => boolean): Promise<Run[]> {
  while (true) {
    const { jobRuns } = await api.request(NEWEST_RUNS, { first: count })
    const runs = jobRuns.edges.map((edge) => edge.node)
    if (runs.every(condition)) return runs
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
