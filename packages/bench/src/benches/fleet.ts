import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type { Bench } from '../bench.ts'
import { seedAgents } from '../bench-agents.ts'
import { connect } from '../client.ts'
import { percentile } from '../compare.ts'
import { NODE_AGENTS } from '../documents.ts'
import { signIn } from '../onboard.ts'
import { startProduct } from '../product.ts'

const LOAD = fileURLToPath(new URL('../load/fleet-load.ts', import.meta.url))
const SILENT_EVERY = 50

/**
 * Agents that send heartbeats for some minutes: `--agents 10000 --minutes 7`; for a short run add `--interval 5 --stale 20 --offline 40`.
 * Every fiftieth agent stops after its first heartbeat. Throws when another agent was ever STALE or OFFLINE, or a stopped one was not.
 * Measures the delay of the detection, its CPU, and the latency of the node list meanwhile.
 */
export const bench: Bench = async ({ print, option }) => {
  const [agents, minutes, interval] = [option('agents', 10_000), option('minutes', 7), option('interval', 30)]
  const [stale, offline] = [option('stale', 120), option('offline', 300)]
  const seconds = minutes * 60
  if (seconds < 2 * interval + offline + 5)
    throw new Error(`--minutes is too short: stopped agents are OFFLINE after ${offline} s`)
  const product = await startProduct()
  try {
    await seedAgents(product.databaseUrl, agents)
    await query(
      product.databaseUrl,
      'insert into agent_settings (tenant_id, heartbeat_interval_seconds, stale_after_seconds, offline_after_seconds) select id, $1, $2, $3 from tenants',
      [interval, stale, offline],
    )
    let token: string | null = null
    const api = connect(product.url, () => token)
    token = await signIn(api, product.linkToken)
    const cpu = () => Object.values(product.cpu()).reduce((sum, each) => sum + each)
    const load = spawn(process.execPath, [LOAD, product.url, agents, interval, seconds, SILENT_EVERY].map(String), {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let isFinished = false
    const over = once(load, 'exit').then(() => (isFinished = true))
    await once(load.stdout, 'data')
    let output = ''
    load.stdout.on('data', (chunk) => (output += chunk))
    // Inserting and signing took longer than the stale threshold.
    await query(product.databaseUrl, "update agents set state = 'PENDING', registered_at = now()", [])
    await query(product.databaseUrl, 'delete from agent_transitions', [])
    load.stdin.write('go\n')
    print(`${agents} agents send heartbeats every ${interval} s for ${minutes} minutes`)
    const before = cpu()
    const began = performance.now()
    const lists: number[] = []
    while (!isFinished) {
      const at = performance.now()
      await api.request(NODE_AGENTS, {})
      lists.push(performance.now() - at)
      await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 1000))])
    }
    const cores = (cpu() - before) / ((performance.now() - began) / 1000)
    if (!output) throw new Error(`the load process ended early: ${load.signalCode ?? load.exitCode}`)
    const { answers, p99 } = JSON.parse(output) as { answers: Record<string, number>; p99: number }
    if (Object.keys(answers).join() !== 'accepted')
      throw new Error(`not all heartbeats were accepted: ${JSON.stringify(answers)}`)
    const rows = await query<{ is_silent: boolean; to: string; agents: number; delays: number[] }>(
      product.databaseUrl,
      `select substr(a.agent_id, 7)::int % $1 = 0 as is_silent, t."to", count(distinct a.node_id)::int as agents,
         array_agg((t.evidence->>'silentSeconds')::float8) as delays
       from agent_transitions t join agents a using (node_id) where t."to" in ('STALE', 'OFFLINE') group by 1, 2`,
      [SILENT_EVERY],
    )
    const silent = Math.ceil(agents / SILENT_EVERY)
    const wrong = rows.filter((row) => !row.is_silent)
    if (wrong.length > 0)
      throw new Error(
        `agents with heartbeats became STALE or OFFLINE: ${JSON.stringify(wrong.map(({ to, agents: n }) => [to, n]))}`,
      )
    const found = (to: string) => rows.find((row) => row.to === to)
    for (const to of ['STALE', 'OFFLINE'])
      if (found(to)?.agents !== silent) throw new Error(`${found(to)?.agents ?? 0} of ${silent} stopped agents became ${to}`)
    const delays = [...found('STALE')!.delays.map((s) => s - stale), ...found('OFFLINE')!.delays.map((s) => s - offline)]
    print(`${answers.accepted} heartbeats accepted, p99 ${p99} ms; 0 false and 0 missed detections; ${cores.toFixed(2)} cores`)
    const one = (what: string, unit: string, ours: number, limit: number) => ({
      comparison: { what, unit, kind: 'cost' as const, goal: 1 },
      samples: [{ ours, peer: limit }],
    })
    return [
      one('latest_detection_vs_1s', 's', Math.max(...delays), 1),
      one('node_list_p95_vs_250ms', 'ms', percentile(lists, 0.95), 250),
      one('cores_of_all', 'cores', cores, availableParallelism()),
    ]
  } finally {
    await product.stop()
  }
}

async function query<T extends pg.QueryResultRow>(url: string, text: string, values: unknown[]): Promise<T[]> {
  const db = new pg.Client({ connectionString: url })
  await db.connect()
  try {
    return (await db.query<T>(text, values)).rows
  } finally {
    await db.end()
  }
}
