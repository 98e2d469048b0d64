import { tenantPermissions } from '@muster/core/access'
import { authorize } from '@muster/core/context'
import { visibleTo } from '@muster/core/db'
import type { Ctx } from '@muster/core/registry'
import { schema } from '@muster/core/registry'
import { asc, type SQL, sql } from 'drizzle-orm'
import { readGpuModels } from '../../graphql/clusters/gpu-models.ts'
import type { TokenEndpoint } from '../token-endpoint.ts'
import { type Labels, labelText, metricHead } from './text-format.ts'

const { slurmClusters, slurmJobs, slurmNodes } = schema

type Sample = [value: number | null, labels: Labels]
type Metric = { name: string; type: 'gauge' | 'untyped'; help: string; of(found: Found): Sample[] }
type Found = Awaited<ReturnType<typeof readClusters>>
type NodeGroup = Found['nodes'][number]

/** Reasons of jobs that wait for something else than a place in the queue. */
const NOT_QUEUED = ['BeginTime', 'Dependency', 'DependencyNeverSatisfied', 'JobHeldAdmin', 'JobHeldUser']

const gauge = (name: string, help: string, of: Metric['of']): Metric => ({ name, type: 'gauge', help, of })
const ofNodes = (name: string, help: string, value: (group: NodeGroup) => number): Metric =>
  gauge(name, help, ({ nodes }) =>
    nodes.map((group) => [value(group), { cluster: group.cluster, partition: group.partition, state: group.state }]),
  )
const micros = (value: number | null) => (value === null ? null : value / 1_000_000)

/** Metrics per cluster. A cluster that does not answer has none of nodes, jobs and the scheduler: they are not known. */
export const CLUSTER_METRICS: Metric[] = [
  {
    name: 'slurm_external_cluster_total',
    type: 'untyped',
    help: 'Clusters that Muster reads and does not manage.',
    of: ({ clusters }) => [[clusters.filter(({ kind }) => kind === 'EXTERNAL').length, {}]],
  },
  gauge(
    'slurm_external_cluster_health',
    '1 for the status of the cluster, otherwise 0; unhealthy: its last refresh failed.',
    ({ clusters }) =>
      clusters
        .filter(({ kind, state }) => kind === 'EXTERNAL' && state !== 'WAITING')
        .flatMap(({ name, state }) => {
          const isHealthy = state === 'OK'
          return [
            [isHealthy ? 1 : 0, { cluster: name, status: 'healthy' }],
            [isHealthy ? 0 : 1, { cluster: name, status: 'unhealthy' }],
          ] satisfies Sample[]
        }),
  ),
  gauge('muster_slurm_cluster_info', 'Always 1; the labels describe the cluster.', ({ clusters }) =>
    clusters.map(({ name, clusterName, version, region }) => [1, { cluster: name, slurm_cluster: clusterName, version, region }]),
  ),
  gauge('muster_slurm_refresh_age_seconds', 'Time since the cluster was read.', ({ clusters }) =>
    clusters.map(({ name, ageSeconds }) => [ageSeconds, { cluster: name }]),
  ),
  gauge('muster_slurm_refresh_duration_seconds', 'Duration of the last refresh, also of a failed one.', ({ clusters }) =>
    clusters.map(({ name, durationMs }) => [durationMs === null ? null : durationMs / 1000, { cluster: name }]),
  ),
  ofNodes(
    'muster_slurm_nodes',
    'Nodes by partition and state as sinfo shows it; `*` does not respond. A node in several partitions counts in each.',
    ({ nodes }) => nodes,
  ),
  ofNodes('muster_slurm_cpus', 'CPUs of the nodes in this state.', ({ cpus }) => cpus),
  ofNodes(
    'muster_slurm_cpus_allocated',
    'CPUs of the nodes in this state that are allocated to jobs.',
    ({ allocatedCpus }) => allocatedCpus,
  ),
  ofNodes('muster_slurm_gpus', 'GPUs of the nodes in this state; a MIG device counts as one.', ({ gpus }) => gpus),
  ofNodes(
    'muster_slurm_gpus_allocated',
    'GPUs of the nodes in this state that are allocated to jobs.',
    ({ allocatedGpus }) => allocatedGpus,
  ),
  gauge(
    'muster_slurm_idle_gpus',
    'GPUs by model that are not allocated, of nodes on which jobs can start. A node in several partitions counts once.',
    ({ clusters, models }) =>
      clusters
        .filter(({ state }) => state === 'OK')
        .flatMap(({ id, name }) =>
          models.filter(({ clusterId }) => clusterId === id).map(({ model, idle }): Sample => [idle, { cluster: name, model }]),
        ),
  ),
  gauge('muster_slurm_jobs', 'Jobs by partition and state, pending ones also by reason.', ({ jobs }) =>
    jobs.map(({ cluster, partition, state, reason, count }) => [count, { cluster, partition, state, reason }]),
  ),
  gauge(
    'muster_slurm_queue_wait_seconds',
    'Time since the submission of pending jobs: median and max. Held jobs, and jobs with a dependency or start time, are left out.',
    ({ waits }) =>
      waits.flatMap(({ cluster, partition, median, longest }) => [
        [median, { cluster, partition, value: 'median' }],
        [longest, { cluster, partition, value: 'max' }],
      ]),
  ),
  gauge('muster_slurm_scheduler_cycle_seconds', 'Duration of cycles of the scheduler: last, mean and max.', ({ clusters }) =>
    clusters.flatMap(({ name, state, scheduler }): Sample[] => {
      if (!scheduler || state !== 'OK') return []
      return (['main', 'backfill'] as const).flatMap((kind): Sample[] => [
        [micros(scheduler[kind].lastCycle), { cluster: name, scheduler: kind, value: 'last' }],
        [micros(scheduler[kind].meanCycle), { cluster: name, scheduler: kind, value: 'mean' }],
        [micros(scheduler[kind].maxCycle), { cluster: name, scheduler: kind, value: 'max' }],
      ])
    }),
  ),
]

/** `GET /metrics/clusters`: metrics of Slurm clusters in the Prometheus text format. */
export const clusterMetricsEndpoint: TokenEndpoint = {
  name: 'cluster metrics',
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  async read(ctx) {
    authorize(ctx, tenantPermissions.read)
    const found = await readClusters(ctx)
    return CLUSTER_METRICS.map((metric) => {
      const samples = metric.of(found).filter(([value]) => value !== null)
      return metricHead(metric) + samples.map(([value, labels]) => `${sampleName(metric.name, labels)} ${value}\n`).join('')
    })
  },
}

function sampleName(name: string, labels: Labels): string {
  const text = labelText(labels)
  return text === '' ? name : `${name}{${text}}`
}

async function readClusters(ctx: Ctx) {
  const clusters = await ctx.db
    .select({
      id: slurmClusters.id,
      name: slurmClusters.name,
      kind: slurmClusters.kind,
      state: slurmClusters.state,
      clusterName: slurmClusters.clusterName,
      version: slurmClusters.version,
      region: slurmClusters.region,
      scheduler: slurmClusters.scheduler,
      durationMs: slurmClusters.refreshDurationMs,
      ageSeconds: sql<number | null>`extract(epoch from now() - ${slurmClusters.refreshedAt})::float8`,
    })
    .from(slurmClusters)
    .where(visibleTo(ctx, slurmClusters))
    .orderBy(asc(slurmClusters.name))
  const answering = sql`${slurmClusters} c where c.tenant_id = ${ctx.tenantId} and c.state = 'OK'`
  const rowsOf = async <Row extends Record<string, unknown>>(query: SQL) => (await ctx.db.execute<Row>(query)).rows
  const nodes = await rowsOf<{
    cluster: string
    partition: string | null
    state: string
    nodes: number
    cpus: number
    allocatedCpus: number
    gpus: number
    allocatedGpus: number
  }>(sql`select c.name as cluster, p.name as partition, n.state, count(*)::int as nodes, sum(n.cpus)::float8 as cpus,
      sum(n.allocated_cpus)::float8 as "allocatedCpus", sum(n.gpus)::float8 as gpus, sum(n.allocated_gpus)::float8 as "allocatedGpus"
    from (select c.* from ${answering}) c join ${slurmNodes} n on n.cluster_id = c.id
    left join lateral unnest(n.partitions) p(name) on true
    group by 1, 2, 3 order by 1, 2, 3`)
  const jobs = await rowsOf<{ cluster: string; partition: string; state: string; reason: string | null; count: number }>(
    sql`select c.name as cluster, j.partition, j.state,
      case when j.state = 'PENDING' then coalesce(j.reason, 'None') end as reason, count(*)::int as count
    from (select c.* from ${answering}) c join ${slurmJobs} j on j.cluster_id = c.id
    group by 1, 2, 3, 4 order by 1, 2, 3, 4`,
  )
  const waits = await rowsOf<{ cluster: string; partition: string; median: number; longest: number }>(
    sql`select cluster, partition, percentile_cont(0.5) within group (order by wait) as median, max(wait) as longest
    from (select c.name as cluster, j.partition,
        extract(epoch from now() - (j.report->>'submittedAt')::timestamptz)::float8 as wait
      from (select c.* from ${answering}) c join ${slurmJobs} j on j.cluster_id = c.id
      where j.state = 'PENDING' and j.report->>'submittedAt' is not null and coalesce(j.report->>'priority', '') <> '0'
        and coalesce(j.reason, '') <> all(${sql.param(NOT_QUEUED)}::text[])) w
    group by 1, 2 order by 1, 2`,
  )
  return { clusters, nodes, jobs, waits, models: await readGpuModels(ctx) }
}
