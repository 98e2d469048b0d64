import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { type Client, connect } from '../client.ts'
import { percentile, type Sample } from '../compare.ts'
import { cpuSeconds } from '../cpu.ts'
import { followLightly } from '../light-follower.ts'
import { naiveNotify } from '../naive-notify.ts'
import { addSilentNode, type LogEvent, runJob, signIn } from '../onboard.ts'
import { startProduct } from '../product.ts'
import { callbackFlood } from '../stand-ins/callback.ts'

const RUNS = 100
const FOLLOWERS_PER_RUN = 10
const RECONNECTS = 100
const SECONDS = 5
const LATE_MS = 100
const SETTLE_MS = 2000
// A worker asks for more once a quarter of its places is free, so all runs are under way at once only with places to spare.
const PLACES = 160

/**
 * 100 runs that say 10,000 lines a second together (`--rate`, to see how it is where the machine is not full), followed by 1,000
 * subscribers with a connection each, and by nobody.
 */
export const bench: Bench = async ({ rounds, say, option }) => {
  const rate = option('rate', 10_000)
  const dir = mkdtempSync(join(tmpdir(), 'mf-'))
  const flood = callbackFlood(dir)
  const product = await startProduct({ ...flood.env, JOB_RUNNER_CONCURRENCY: String(PLACES) })
  try {
    let token: string | null = null
    const api = connect(product.url, () => token)
    token = await signIn(api, product.linkToken)
    for (let i = 0; i < RUNS; i++) await addSilentNode(api, `node${i}`)

    const once = async (followersPerRun: number, reconnects: number) => {
      flood.set({ events: (rate / RUNS) * SECONDS, rate: rate / RUNS }, true)
      const ids: string[] = []
      for (let i = 0; i < RUNS; i++) ids.push(await runJob(api, { template: 'connectivity_check', limit: `node${i}` }))
      const lags: number[] = []
      let followed = 0
      const followers = ids.flatMap((id) =>
        Array.from({ length: followersPerRun }, () =>
          follow(product.url, token!, id, lags, dropAfter(followed++, reconnects, (rate / RUNS) * SECONDS)),
        ),
      )
      await newest(api, (run) => run.ansibleStartedAt !== null)
      // So that what starting costs is over.
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
      const before = { ...product.cpu(), clients: cpuSeconds([process.pid]) }
      const began = Date.now()
      flood.letGo()
      const delivered = (await Promise.all(followers)).reduce((sum, n) => sum + n, 0)
      const runs = await newest(api, (run) => run.finishedAt !== null)
      const after = { ...product.cpu(), clients: cpuSeconds([process.pid]) }
      const lines = runs.reduce((sum, run) => sum + Number(run.lineCount), 0)
      const ended = Math.max(...runs.map((run) => Date.parse(run.finishedAt!)))
      if (lines !== rate * SECONDS) throw new Error(`${lines} of ${rate * SECONDS} lines were written`)
      return {
        perSecond: lines / ((ended - began) / 1000),
        lags,
        cpu: Object.entries(after).map(([name, s]) => ({
          name,
          perLine: ((s - before[name as keyof typeof before]) * 1e6) / lines,
        })),
        delivered: followersPerRun ? delivered / (lines * followersPerRun) : 1,
      }
    }

    const write: Sample[] = []
    const late: Sample[] = []
    const delivered: Sample[] = []
    for (let round = 1; round <= rounds; round++) {
      const alone = await once(0, 0)
      const live = await once(FOLLOWERS_PER_RUN, RECONNECTS)
      const p99 = percentile(live.lags, 0.99)
      write.push({ ours: live.perSecond, peer: alone.perSecond })
      late.push({ ours: p99, peer: LATE_MS })
      delivered.push({ ours: live.delivered, peer: 1 })
      say(
        `round ${round} of ${rounds}: ${Math.round(live.perSecond)} lines/s with followers, ${Math.round(alone.perSecond)} without; p50 ${percentile(live.lags, 0.5)} ms, p99 ${p99} ms late; delivered/sent ${live.delivered}`,
      )
      // What else the machine does makes all of the above worse, this hardly.
      const told = live.cpu.map(
        ({ name, perLine }, i) => `${name} ${perLine.toFixed(0)} (${alone.cpu[i]!.perLine.toFixed(0)} without)`,
      )
      say(`CPU per line written and given to ${FOLLOWERS_PER_RUN} followers, in µs: ${told.join(', ')}`)
    }
    const naive = await naiveNotify(product.databaseUrl)
    say(`for comparison, a NOTIFY in the transaction of each row: ${naive.toFixed(2)} of the write rate without`)
    return [
      { comparison: { what: 'write_rate_with_followers', unit: 'lines/s', kind: 'throughput', goal: 0.95 }, samples: write },
      { comparison: { what: 'line_to_client_p99', unit: 'ms', kind: 'cost', goal: 1 }, samples: late },
      { comparison: { what: 'delivered_of_sent', unit: 'x', kind: 'throughput', goal: 1 }, samples: delivered },
    ]
  } finally {
    await product.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}

/** After how many of `lines` the nth follower loses its connection, for `reconnects` of them: one after the other, all the time. */
const dropAfter = (n: number, reconnects: number, lines: number) =>
  n < reconnects ? 1 + Math.floor((n / reconnects) * lines) : Number.POSITIVE_INFINITY

/** Follow to the end, losing the connection once, after `dropAt` lines. @returns how many lines came, each once and in order */
async function follow(url: string, token: string, id: string, lags: number[], dropAt: number): Promise<number> {
  let seq = 0
  let lines = 0
  let isToDrop = true
  // Lines come some at a time, said at the same moment.
  let said = { createdAt: '', at: 0 }
  const take = (events: LogEvent[]) => {
    const now = Date.now()
    for (const event of events) {
      if (event.seq !== ++seq) throw new Error(`event ${event.seq} came in the place of ${seq}`)
      if (event.kind !== 'ok') continue
      lines++
      if (event.createdAt !== said.createdAt) said = { createdAt: event.createdAt, at: Date.parse(event.createdAt) }
      lags.push(now - said.at)
    }
    if (!isToDrop || lines < dropAt) return false
    isToDrop = false
    return true
  }
  while (!(await followLightly(url, token, { id, after: seq }, take)));
  return lines
}

type Run = { finishedAt: string | null; ansibleStartedAt: string | null; lineCount: number }

/** The newest runs, once all of them are so far. */
async function newest(api: Client, isSoFar: (run: Run) => boolean): Promise<Run[]> {
  while (true) {
    const { jobRuns } = await api.request<{ jobRuns: { edges: { node: Run }[] } }>(
      'query ($runs: Int!) { jobRuns(first: $runs) { edges { node { finishedAt ansibleStartedAt lineCount } } } }',
      { runs: RUNS },
    )
    const runs = jobRuns.edges.map((edge) => edge.node)
    if (runs.every(isSoFar)) return runs
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
