import { setImmediate } from 'node:timers/promises'
import { isOneOf, visibleTo } from '@muster/core/db'
import type { Ctx } from '@muster/core/registry'
import { schema } from '@muster/core/registry'
import { selectNodes } from '@muster/core/selection'
import { and, eq, sql } from 'drizzle-orm'
import type { TokenEndpoint } from '../token-endpoint.ts'
import { type Labels, labelText, metricHead } from './text-format.ts'

const { accelerators, agentHeartbeats, agents, computeNodes } = schema

type Row = Awaited<ReturnType<typeof readNodes>>[number]
type Sample = [value: number | null, labels?: Labels]
type Metric = { name: string; type: 'gauge' | 'counter'; help: string; of(row: Row): Sample[] }

const single = (name: string, help: string, of: (row: Row) => number | null, type: Metric['type'] = 'gauge'): Metric => ({
  name,
  type,
  help,
  of: (row) => [[of(row)]],
})
const ratio = (percent: number | null) => (percent === null ? null : percent / 100)
const seconds = (ms: number | null) => (ms === null ? null : ms / 1000)

/** Metrics per node. An unknown value has no sample. */
export const NODE_METRICS: Metric[] = [
  {
    name: 'muster_node_info',
    type: 'gauge',
    help: 'Always 1; the labels describe the node.',
    of: ({ region, datacenter, status, type, version }) => [[1, { region, datacenter, status, type, agent_version: version }]],
  },
  {
    name: 'muster_agent_state',
    type: 'gauge',
    help: 'Always 1; the label `state` is the state of the agent.',
    of: ({ state }) => (state ? [[1, { state }]] : []),
  },
  single('muster_agent_last_heartbeat_timestamp_seconds', 'Unix time of the last accepted heartbeat.', ({ receivedAt }) =>
    seconds(receivedAt?.getTime() ?? null),
  ),
  single(
    'muster_agent_clock_skew_seconds',
    'Clock offset of the node; positive when its clock is ahead of the server.',
    ({ skewMs }) => seconds(skewMs),
  ),
  single('muster_agent_heartbeats_total', 'Heartbeats accepted.', ({ accepted }) => accepted, 'counter'),
  single(
    'muster_agent_heartbeats_missed_total',
    'Heartbeats that did not arrive, by gaps in their sequence numbers.',
    ({ missed }) => missed,
    'counter',
  ),
  single('muster_node_cpu_utilization_ratio', 'CPU utilization reported by the agent, 0 to 1.', ({ cpuPercent }) =>
    ratio(cpuPercent),
  ),
  single('muster_node_memory_utilization_ratio', 'Memory utilization reported by the agent, 0 to 1.', ({ memoryPercent }) =>
    ratio(memoryPercent),
  ),
  single('muster_node_jobs_running', 'Running workload manager jobs reported by the agent.', ({ runningJobs }) => runningJobs),
  single('muster_node_gpus', 'GPUs and NPUs reported by the agent.', ({ gpusTotal }) => gpusTotal),
  single(
    'muster_node_gpus_available',
    'GPUs and NPUs not allocated to a job, reported by the agent.',
    ({ gpusAvailable }) => gpusAvailable,
  ),
  {
    name: 'muster_node_accelerators',
    type: 'gauge',
    help: 'Accelerators found by the last discovery, by type and health.',
    of: ({ devices }) => (devices ?? []).map(({ type, health, count }) => [count, { type, health }]),
  },
]

/** `GET /metrics/nodes?limit=…`: node metrics in the Prometheus text format. */
export const nodeMetricsEndpoint: TokenEndpoint = {
  name: 'node metrics',
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  read: async (ctx, params) => render(await readNodes(ctx, params.get('limit') ?? 'all')),
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

const ROWS_PER_CHUNK = 1000

/** Renders one metric family after the other, in chunks that yield to the event loop: thousands of nodes must not delay heartbeats. */
async function* render(rows: Row[]): AsyncGenerator<string> {
  for (const metric of NODE_METRICS) {
    let text = metricHead(metric)
    for (const [i, row] of rows.entries()) {
      for (const [value, labels] of metric.of(row))
        if (value !== null) text += `${metric.name}{${labelText({ node: row.node, cluster: row.cluster, ...labels })}} ${value}\n`
      if (i % ROWS_PER_CHUNK !== ROWS_PER_CHUNK - 1) continue
      yield text
      text = ''
      await setImmediate()
    }
    yield text
  }
}
