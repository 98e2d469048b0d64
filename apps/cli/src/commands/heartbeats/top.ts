import { setTimeout as sleep } from 'node:timers/promises'
import { request, subscribe } from '../../client.ts'
import { Command } from '../../command.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { ago, table } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { AGENT_STATES } from '../agents/list.ts'

const PAGE = graphql(`query Top($filter: NodeFilter, $first: Int, $after: String) {
  nodes(filter: $filter, first: $first, after: $after) {
    edges { node { name agent { cluster state lastHeartbeat { receivedAt health cpuPercent memoryPercent skewMs } } } }
    pageInfo { hasNextPage endCursor }
  }
}`)
const LIVE = graphql(`subscription TopLive($cluster: String) {
  heartbeats(cluster: $cluster) { name cluster state receivedAt health cpuPercent memoryPercent skewMs }
}`)
export type TopRow = Omit<ResultOf<typeof LIVE>['heartbeats'][number], '__typename'>

/** Sort order of states. */
const WORST_FIRST: readonly TopRow['state'][] = ['OFFLINE', 'STALE', 'DRAINING', 'DRAINED', 'PENDING', 'ACTIVE', 'DEREGISTERED']

export const top = () =>
  new Command('top').option('--cluster <cluster>', 'only this cluster').action(async ({ cluster }: { cluster?: string }) => {
    const rows = await readAll(cluster)
    if (!process.stdout.isTTY) return void process.stdout.write(`${frame([...rows.values()]).join('\n')}\n`)
    await live(rows, cluster)
  })

async function readAll(cluster: string | undefined): Promise<Map<string, TopRow>> {
  const rows = new Map<string, TopRow>()
  const filter = { agentState: [...AGENT_STATES], ...(cluster ? { cluster: [cluster] } : {}) }
  for (const node of await fetchAll(async (page) => (await request(PAGE, { filter, ...page })).nodes)) {
    if (!node.agent) continue
    const { lastHeartbeat, ...agent } = node.agent
    const silent = { receivedAt: null, health: null, cpuPercent: null, memoryPercent: null, skewMs: null }
    rows.set(node.name, { name: node.name, ...agent, ...(lastHeartbeat ?? silent) })
  }
  return rows
}

/** Redraws every second on the alternate screen until Ctrl-C. */
async function live(rows: Map<string, TopRow>, cluster: string | undefined): Promise<void> {
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  const draw = () => {
    const { columns = 80, rows: height = 24 } = process.stdout
    const lines = frame([...rows.values()], { width: columns, height })
    process.stdout.write(`\u001b[H${lines.map((line) => `${line.slice(0, columns)}\u001b[K`).join('\n')}\u001b[J`)
  }
  process.stdout.write('\u001b[?1049h\u001b[?25l')
  try {
    const subscription = (async () => {
      for await (const { heartbeats } of subscribe(LIVE, () => ({ cluster: cluster ?? null }), stop.signal))
        for (const { name, ...row } of heartbeats) rows.set(name, { name, ...row })
    })().finally(() => stop.abort())
    while (!stop.signal.aborted) {
      draw()
      await sleep(1000, undefined, { signal: stop.signal }).catch(() => {})
    }
    await subscription
  } finally {
    process.stdout.write('\u001b[?25h\u001b[?1049l')
  }
}

/** Lines of the screen. @param size of the terminal; without it all rows are included */
export function frame(rows: TopRow[], size?: { width: number; height: number }, now = Date.now()): string[] {
  const counts = WORST_FIRST.map((state) => [state, rows.filter((row) => row.state === state).length] as const)
  const head = `${rows.length} nodes: ${counts.flatMap(([state, count]) => (count > 0 ? `${count} ${state}` : [])).join(', ') || 'no agents'}`
  const sorted = rows.toSorted(
    (a, b) => WORST_FIRST.indexOf(a.state) - WORST_FIRST.indexOf(b.state) || (a.name < b.name ? -1 : 1),
  )
  const maxRows = size ? Math.max(0, size.height - 3) : sorted.length
  const percent = (value: number | null) => (value === null ? null : `${Math.round(value)} %`)
  const { lines, hidden } = table(
    sorted.slice(0, maxRows),
    [
      { title: 'NODE', value: (row) => row.name },
      { title: 'STATE', value: (row) => row.state },
      { title: 'LAST SEEN', value: (row) => ago(row.receivedAt, now) },
      { title: 'CPU', value: (row) => percent(row.cpuPercent) },
      { title: 'MEMORY', value: (row) => percent(row.memoryPercent) },
      { title: 'HEALTH', value: (row) => row.health },
      { title: 'CLUSTER', value: (row) => row.cluster, wide: true },
      { title: 'SKEW', value: (row) => (row.skewMs === null ? null : `${(row.skewMs / 1000).toFixed(1)} s`), wide: true },
    ],
    size?.width,
  )
  const note = hidden.length > 0 ? `, hidden columns: ${hidden.join(', ')}` : ''
  return [`${head}${note}`, ...(sorted.length > 0 ? lines : [])]
}
