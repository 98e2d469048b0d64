import { setImmediate } from 'node:timers/promises'
import { isOneOf, visibleTo } from '@muster/core/db'
import type { Ctx } from '@muster/core/registry'
import { schema } from '@muster/core/registry'
import { selectNodes } from '@muster/core/selection'
import { and, eq, sql } from 'drizzle-orm'
import type { TokenEndpoint } from '../token-endpoint.ts'

const { accelerators, agentHeartbeats, agents, computeNodes } = schema

type Row = Awaited<ReturnType<typeof readNodes>>[number]
type Labels = Record<string, string | null>
type Sample = [value: number | null, labels?: Labels]
type Metric = { name: string; type: 'gauge' | 'counter'; help: string; of(row: Row): Sample[] }

const one = (name: string, help: string, of: (row: Row) => number | null, type: Metric['type'] = 'gauge'): Metric => ({
  name,
  type,
  help,
  of: (row) => [[of(row)]],
})
const share = (percent: number | null) => (percent === null ? null : percent / 100)
const seconds = (ms: number | null) => (ms === null ? null : ms / 1000)

/** What is known of each node; what is not has no sample. */
export const NODE_METRICS: Metric[] = [
  {
    name: 'muster_node_info',
    type: 'gauge',
    help: 'Always 1; its labels say what a node is.',
    of: ({ region, datacenter, status, type, version }) => [[1, { region, datacenter, status, type, agent_version: version }]],
  },
  {
    name: 'muster_agent_state',
    type: 'gauge',
    help: 'Always 1; its label says the state that the agent is in.',
    of: ({ state }) => (state ? [[1, { state }]] : []),
  },
  one('muster_agent_last_heartbeat_timestamp_seconds', 'When the last heartbeat was accepted.', ({ receivedAt }) =>
    seconds(receivedAt?.getTime() ?? null),
  ),
  one('muster_agent_clock_skew_seconds', "How far the node's clock runs ahead of ours.", ({ skewMs }) => seconds(skewMs)),
  one('muster_agent_heartbeats_total', 'Heartbeats accepted.', ({ accepted }) => accepted, 'counter'),
  one('muster_agent_heartbeats_missed_total', 'Heartbeats that never came.', ({ missed }) => missed, 'counter'),
  one('muster_node_cpu_utilization_ratio', 'CPU in use, 0 to 1, as the agent says.', ({ cpuPercent }) => share(cpuPercent)),
  one('muster_node_memory_utilization_ratio', 'Memory in use, 0 to 1, as the agent says.', ({ memoryPercent }) =>
    share(memoryPercent),
  ),
  one('muster_node_jobs_running', 'Jobs that run on it, as the agent says.', ({ runningJobs }) => runningJobs),
  one('muster_node_gpus', 'GPUs and NPUs that the agent sees.', ({ gpusTotal }) => gpusTotal),
  one('muster_node_gpus_available', 'Those of them that no job has.', ({ gpusAvailable }) => gpusAvailable),
  {
    name: 'muster_node_accelerators',
    type: 'gauge',
    help: 'Accelerators that the last discovery found, by type and health.',
    of: ({ devices }) => (devices ?? []).map(({ type, health, count }) => [count, { type, health }]),
  },
]

/** `GET /metrics/nodes?limit=…`: figures of the nodes in Prometheus' text format. */
export const nodeMetricsEndpoint: TokenEndpoint = {
  name: 'metrics of nodes',
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  read: async (ctx, params) => written(await readNodes(ctx, params.get('limit') ?? 'all')),
}

async function readNodes(ctx: Ctx, limit: string) {
  const ids = (await selectNodes(ctx, limit)).map((node) => node.id)
  return ctx.db
    .select({
      node: computeNodes.name,
      region: computeNodes.region,
      datacenter: computeNodes.datacenter,
      status: computeNodes.status,
      type: computeNodes.nodeType,
      cluster: agents.cluster,
      state: agents.state,
      version: agents.version,
      receivedAt: agentHeartbeats.receivedAt,
      skewMs: agentHeartbeats.skewMs,
      accepted: agentHeartbeats.accepted,
      missed: agentHeartbeats.missed,
      cpuPercent: agentHeartbeats.cpuPercent,
      memoryPercent: agentHeartbeats.memoryPercent,
      runningJobs: agentHeartbeats.runningJobs,
      gpusTotal: agentHeartbeats.gpusTotal,
      gpusAvailable: agentHeartbeats.gpusAvailable,
      devices: sql<{ type: string; health: string; count: number }[] | null>`(select jsonb_agg(d) from (
        select device_type as type, health, count(*)::int as count from ${accelerators} a where a.node_id = ${computeNodes.id}
        group by 1, 2 order by 1, 2) d)`,
    })
    .from(computeNodes)
    .leftJoin(agents, eq(agents.nodeId, computeNodes.id))
    .leftJoin(agentHeartbeats, eq(agentHeartbeats.nodeId, computeNodes.id))
    .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, ids)))
    .orderBy(computeNodes.name)
}

const ROWS_AT_ONCE = 1000

/** A family after the other, in pieces: whoever has many nodes must not keep heartbeats waiting that come in meanwhile. */
async function* written(rows: Row[]): AsyncGenerator<string> {
  for (const metric of NODE_METRICS) {
    let text = `# HELP ${metric.name} ${metric.help}\n# TYPE ${metric.name} ${metric.type}\n`
    for (const [i, row] of rows.entries()) {
      for (const [value, labels] of metric.of(row))
        if (value !== null) text += `${metric.name}{${labelText({ node: row.node, cluster: row.cluster, ...labels })}} ${value}\n`
      if (i % ROWS_AT_ONCE !== ROWS_AT_ONCE - 1) continue
      yield text
      text = ''
      await setImmediate()
    }
    yield text
  }
}

const labelText = (labels: Labels) =>
  Object.entries(labels)
    .flatMap(([name, value]) =>
      value === null ? [] : `${name}="${value.replace(/[\\"\n]/g, (sign) => (sign === '\n' ? '\\n' : `\\${sign}`))}"`,
    )
    .join(',')
