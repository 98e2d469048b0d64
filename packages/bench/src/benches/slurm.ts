import { cpus } from 'node:os'
import { consoleQuery } from '@muster/core/testing'
import { parseJobs, parseNodes } from '@muster/slurm'
import type { Bench } from '../bench.ts'
import { connect } from '../client.ts'
import { interleave, percentile, type Sample } from '../compare.ts'
import { dataOf, type Target } from '../load/http-meter.ts'
import { onboard, signIn } from '../onboard.ts'
import { startProduct } from '../product.ts'
import { addCluster, readCluster, refreshCluster } from '../slurm/cluster.ts'
import { type LargeCluster, startLargeCluster } from '../slurm/large-cluster.ts'
import { openRawSession } from '../slurm/raw-session.ts'
import { startSlurmrestd } from '../slurm/slurmrestd.ts'

const NODES = 5000
const JOBS = 20_000
const RUNNING = 200
/** Of nodes and jobs, in a minute. */
const REFRESHES = 2
const PAGES = 200
const PAGE = 100
/** Limits of our own: time from the address to the live view, and of 95 % of the pages. */
const LIVE_VIEW_MS = 60_000
const PAGE_MS = 300

/**
 * A real controller with `--nodes` nodes and `--jobs` jobs, `--running` of them running, which change between the rounds. Wall time of a
 * refresh from the mutation to the stored data, against the same commands in one open SSH session with nothing that reads their output;
 * CPU of the controller's host per minute, against a client that polls slurmrestd as often; time of pages of nodes and jobs while the
 * cluster is refreshed; and time from the address of the controller to its data.
 */
export const bench: Bench = async ({ rounds, print, option, random }) => {
  const size = { nodes: option('nodes', NODES), jobs: option('jobs', JOBS), running: option('running', RUNNING) }
  const cluster = await startLargeCluster(size, random)
  const { lab } = cluster
  const product = await startProduct()
  let close = () => {}
  try {
    const jobs = await cluster.countJobs()
    print(`slurmctld has ${size.nodes} nodes and ${jobs} jobs; ${cpus().length} cores`)
    if (jobs < size.jobs * 0.99) throw new Error(`only ${jobs} of ${size.jobs} jobs exist`)
    let token: string | null = null
    const api = connect(product.url, () => token)
    token = await signIn(api, product.linkToken)

    const began = performance.now()
    const ids = await onboard(api, lab)
    const id = await addCluster(api, 'large', ids.get(lab.slurm!.controllers[0]!.name)!)
    const liveMs = performance.now() - began
    const first = await checkStored()
    print(`address to live view: ${Math.round(liveMs)} ms`)

    async function checkStored() {
      const found = await readCluster(api, id)
      const expected = { nodes: cluster.nodes, jobs: await cluster.countJobs() }
      if (found.totals.nodes !== expected.nodes || found.totals.jobs !== expected.jobs)
        throw new Error(`${found.totals.nodes} nodes and ${found.totals.jobs} jobs are stored, not ${JSON.stringify(expected)}`)
      return found
    }

    const raw = openRawSession(lab, first.version!)
    close = raw.close
    await raw.refresh()
    const refresh = async (): Promise<number> => {
      const drained = await cluster.change()
      const start = performance.now()
      await refreshCluster(api, id)
      const ms = performance.now() - start
      const { totals, queries, refreshDurationMs } = await checkStored()
      const parts = queries.map(({ query, durationMs }) => `${query} ${durationMs}`).join(', ')
      print(`refresh ${Math.round(ms)} ms: ${parts}; read and parsed after ${refreshDurationMs} ms`)
      const shown = totals.nodesByState.filter(({ state }) => /DRAIN/.test(state)).reduce((sum, { nodes }) => sum + nodes, 0)
      if (shown !== drained) throw new Error(`${shown} nodes are shown as drained, ${drained} are`)
      return ms
    }
    // The commands print everything, changed or not. A change here would reach the next refresh, which would store several at once.
    const commands = async (): Promise<number> => {
      const { ms, outputOf } = await raw.refresh()
      const nodes = parseNodes(outputOf('nodes')).length
      const found = parseJobs(outputOf('jobs'), { nonce: raw.nonce }).length
      if (nodes !== cluster.nodes || found !== (await cluster.countJobs()))
        throw new Error(`the commands print ${nodes} nodes and ${found} jobs`)
      return ms
    }
    const wall = await interleave(refresh, commands, rounds, print)

    const rest = await startSlurmrestd(cluster)
    const cpuOf = (work: () => Promise<void>) => async (): Promise<number> => {
      await cluster.change()
      const before = await cluster.cpu()
      await work()
      const after = await cluster.cpu()
      print(
        `slurmctld ${(after.slurmctld - before.slurmctld).toFixed(2)} s, host ${(after.host - before.host).toFixed(2)} s of CPU`,
      )
      return (after.host - before.host) * REFRESHES
    }
    const polled = async () => {
      const found = await rest.poll()
      if (found.nodes !== cluster.nodes || found.jobs < size.jobs * 0.99)
        throw new Error(`slurmrestd has ${found.nodes} nodes and ${found.jobs} jobs`)
    }
    const cpu = await interleave(
      cpuOf(() => refreshCluster(api, id)),
      cpuOf(polled),
      rounds,
      print,
    )

    // Pages are read while the worker stores the next data.
    const refreshing = refreshCluster(api, id)
    const times = await pageTimes({ url: `${product.url}/graphql`, token, id }, cluster, random)
    await refreshing
    print(
      `${times.length} pages of ${PAGE}: median ${Math.round(percentile(times, 0.5))} ms, p95 ${Math.round(percentile(times, 0.95))} ms`,
    )
    const pages: Sample[] = [{ ours: percentile(times, 0.95), peer: PAGE_MS }]
    return [
      { comparison: { what: 'refresh_vs_raw_commands', unit: 'ms', kind: 'cost', goal: 1.3 }, samples: wall },
      { comparison: { what: 'controller_cpu_vs_slurmrestd', unit: 's/min', kind: 'cost', goal: 1 }, samples: cpu },
      { comparison: { what: 'page_p95_vs_limit', unit: 'ms', kind: 'cost', goal: 1 }, samples: pages },
      {
        comparison: { what: 'address_to_live_view_vs_limit', unit: 'ms', kind: 'cost', goal: 1 },
        samples: [{ ours: liveMs, peer: LIVE_VIEW_MS }],
      },
    ]
  } finally {
    close()
    await product.stop()
    await lab.down()
  }
}

type Page = { edges: unknown[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } }

/** Reads pages as the console does, with filters and positions drawn at random. @returns their times in ms */
async function pageTimes(
  { url, token, id }: { url: string; token: string; id: string },
  { nodes }: LargeCluster,
  random: () => number,
): Promise<number[]> {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const number = () => 1 + Math.floor(random() * (nodes - 1))
  const node = () => `n${String(number()).padStart(5, '0')}`
  const filters: Record<'nodes' | 'jobs', (() => object | null)[]> = {
    nodes: [
      () => null,
      () => ({ state: [pick(['IDLE', 'MIXED', 'DRAINED', 'DRAIN', 'ALLOCATED'])] }),
      () => ({ partition: [pick(['large', 'batch'])] }),
      () => ({ search: String(number()) }),
      () => ({ hostlist: `n[${String(Math.ceil(nodes / 3)).padStart(5, '0')}-${String(nodes - 1).padStart(5, '0')}]` }),
    ],
    jobs: [
      () => null,
      () => ({ state: [pick(['PENDING', 'RUNNING'])] }),
      () => ({ user: [pick(['ops', 'root'])] }),
      () => ({ search: pick(['train', `train-${Math.floor(random() * 10)}`, String(number())]) }),
      () => ({ node: node() }),
    ],
  }
  const queries = { nodes: consoleQuery('SlurmClusterNodes'), jobs: consoleQuery('SlurmClusterJobs') }
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  const times: number[] = []
  while (times.length < PAGES) {
    const list = pick(['nodes', 'jobs'] as const)
    const filter = pick(filters[list])()
    let after: string | null = null
    for (let depth = Math.floor(random() * 5); depth >= 0; depth--) {
      const body = JSON.stringify({ query: queries[list], variables: { id, filter, first: PAGE, after } })
      const target: Target = { url, method: 'POST', headers, body, pid: 0 }
      const began = performance.now()
      const { slurmCluster } = await dataOf<{ slurmCluster: Record<typeof list, Page> }>(target)
      times.push(performance.now() - began)
      const { pageInfo } = slurmCluster[list]
      if (!pageInfo.hasNextPage) break
      after = pageInfo.endCursor
    }
  }
  return times
}
