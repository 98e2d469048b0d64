import { isOneOf, visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { foldHostlist } from '@muster/core/selection'
import { and, type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { builder } from '../../builder.ts'
import type { ApiContext } from '../../context.ts'
import { loader } from '../shared/loaders.ts'

const { slurmJobs, slurmNodes, slurmPartitions } = schema

/** Nodes in one state with their resources. */
type NodeCount = {
  /** The cluster or partition. */
  id: string
  state: string
  nodes: number
  cpus: number
  allocatedCpus: number
  gpus: number
  allocatedGpus: number
}
type JobCount = { state: string; jobs: number }
type ReasonCount = { reason: string; jobs: number }

/** Rows by their column `id`. */
async function grouped<Row>(context: ApiContext, query: SQL): Promise<Map<string, Row[]>> {
  const { rows } = await context.ctx.db.execute(query)
  return Map.groupBy(rows, ({ id }) => String(id)) as Map<string, Row[]>
}

/** Names of nodes by state, by cluster or partition. */
const namesOf = loader<{ state: string; names: string[] }[]>((context, ids) =>
  grouped(
    context,
    sql`with given as (select unnest(${sql.param([...ids])}::uuid[]) as id)
      select g.id, n.state, array_agg(n.name) as names from given g
      left join ${slurmPartitions} p on p.id = g.id and p.tenant_id = ${context.ctx.tenantId}
      join ${slurmNodes} n on n.tenant_id = ${context.ctx.tenantId}
        and n.cluster_id = coalesce(p.cluster_id, g.id) and (p.id is null or p.name = any(n.partitions))
      group by g.id, n.state`,
  ),
)

export const SlurmNodeCount = builder.objectRef<NodeCount>('SlurmNodeCount').implement({
  description: 'Nodes in one state, with their CPUs and GPUs.',
  fields: (t) => ({
    state: t.exposeString('state', { description: 'The state as sinfo shows it, for example `IDLE`, `IDLE*`, `DRAINING`.' }),
    nodes: t.exposeInt('nodes', { description: 'Number of nodes.' }),
    cpus: t.exposeInt('cpus', { description: 'CPUs of these nodes.' }),
    allocatedCpus: t.exposeInt('allocatedCpus', { description: 'CPUs that are allocated to jobs.' }),
    gpus: t.exposeInt('gpus', { description: 'GPUs of these nodes; a MIG device counts as one.' }),
    allocatedGpus: t.exposeInt('allocatedGpus', { description: 'GPUs that are allocated to jobs.' }),
    nodeList: t.string({
      description: 'The nodes as a hostlist, for example `gpu[001-064],cpu1`.',
      complexity: 10,
      resolve: async ({ id, state }, _args, context) =>
        foldHostlist((await namesOf(context, id))?.find((of) => of.state === state)?.names ?? []),
    }),
  }),
})

export const SlurmJobCount = builder.objectRef<JobCount>('SlurmJobCount').implement({
  description: 'Jobs in one state.',
  fields: (t) => ({
    state: t.exposeString('state', { description: "Slurm's word, for example `RUNNING` or `PENDING`." }),
    jobs: t.exposeInt('jobs', { description: 'Number of jobs. The pending part of an array counts as one.' }),
  }),
})

const SlurmReasonCount = builder.objectRef<ReasonCount>('SlurmReasonCount').implement({
  description: 'Pending jobs with one reason.',
  fields: (t) => ({
    reason: t.exposeString('reason', { description: "Slurm's word, for example `Resources`; `None` when it gave none." }),
    jobs: t.exposeInt('jobs', { description: 'Number of pending jobs.' }),
  }),
})

const NODE_COLUMNS = sql`count(*)::int as nodes, sum(n.cpus)::float8 as cpus, sum(n.allocated_cpus)::float8 as "allocatedCpus",
  sum(n.gpus)::float8 as gpus, sum(n.allocated_gpus)::float8 as "allocatedGpus"`

const inTenant = (context: ApiContext, table: { tenantId: AnyPgColumn }, id: AnyPgColumn, ids: readonly string[]) =>
  and(visibleTo(context.ctx, table), isOneOf(id, [...ids]))

const nodesOfClusters = loader<NodeCount[]>((context, ids) =>
  grouped(
    context,
    sql`select n.cluster_id as id, n.state, ${NODE_COLUMNS} from ${slurmNodes} n
      where n.tenant_id = ${context.ctx.tenantId} and n.cluster_id = any(${sql.param([...ids])}::uuid[])
      group by n.cluster_id, n.state order by nodes desc, n.state`,
  ),
)

const jobsOfClusters = loader<(JobCount & { reason: string | null })[]>((context, ids) =>
  grouped(
    context,
    sql`select ${slurmJobs.clusterId} as id, ${slurmJobs.state}, case when ${slurmJobs.state} = 'PENDING' then ${slurmJobs.reason} end as reason,
        count(*)::int as jobs
      from ${slurmJobs} where ${inTenant(context, slurmJobs, slurmJobs.clusterId, ids)} group by 1, 2, 3`,
  ),
)

export const nodesOfPartitions = loader<NodeCount[]>((context, ids) =>
  grouped(
    context,
    sql`select p.id, n.state, ${NODE_COLUMNS} from ${slurmPartitions} p
      join ${slurmNodes} n on n.cluster_id = p.cluster_id and p.name = any(n.partitions)
      where p.tenant_id = ${context.ctx.tenantId} and n.tenant_id = p.tenant_id and p.id = any(${sql.param([...ids])}::uuid[])
      group by p.id, n.state order by nodes desc, n.state`,
  ),
)

export const jobsOfPartitions = loader<JobCount[]>((context, ids) =>
  grouped(
    context,
    sql`select p.id, j.state, count(*)::int as jobs from ${slurmPartitions} p
      join ${slurmJobs} j on j.cluster_id = p.cluster_id and p.name = any(string_to_array(j.partition, ','))
      where p.tenant_id = ${context.ctx.tenantId} and j.tenant_id = p.tenant_id and p.id = any(${sql.param([...ids])}::uuid[])
      group by p.id, j.state order by jobs desc, j.state`,
  ),
)

/** Sums the counts of rows with the same key, the largest first. */
function sums(rows: { key: string; jobs: number }[]): { key: string; jobs: number }[] {
  return [...Map.groupBy(rows, ({ key }) => key)]
    .map(([key, of]) => ({ key, jobs: of.reduce((sum, { jobs }) => sum + jobs, 0) }))
    .sort((a, b) => b.jobs - a.jobs || (a.key < b.key ? -1 : 1))
}

const total = (rows: NodeCount[], column: Exclude<keyof NodeCount, 'id' | 'state'>) =>
  rows.reduce((sum, row) => sum + row[column], 0)

/** `id` of the cluster. Its fields are read when they are selected. */
export const SlurmClusterTotals = builder.objectRef<{ id: string }>('SlurmClusterTotals').implement({
  description: 'Numbers of nodes, CPUs, GPUs and jobs of a Slurm cluster when it was last read.',
  fields: (t) => {
    const sum = (column: Exclude<keyof NodeCount, 'id' | 'state'>, description: string) =>
      t.int({
        description,
        resolve: async ({ id }, _args, context) => total((await nodesOfClusters(context, id)) ?? [], column),
      })
    return {
      nodes: sum('nodes', 'Nodes.'),
      cpus: sum('cpus', 'CPUs.'),
      allocatedCpus: sum('allocatedCpus', 'CPUs that are allocated to jobs.'),
      gpus: sum('gpus', 'GPUs; a MIG device counts as one.'),
      allocatedGpus: sum('allocatedGpus', 'GPUs that are allocated to jobs.'),
      nodesByState: t.field({
        type: [SlurmNodeCount],
        description: 'Nodes by state, the largest number first. At most one per state.',
        resolve: async ({ id }, _args, context) => (await nodesOfClusters(context, id)) ?? [],
      }),
      jobs: t.int({
        description: 'Jobs that have not been purged by slurmctld.',
        resolve: async ({ id }, _args, context) =>
          ((await jobsOfClusters(context, id)) ?? []).reduce((all, { jobs }) => all + jobs, 0),
      }),
      jobsByState: t.field({
        type: [SlurmJobCount],
        description: 'Jobs by state, the largest number first. At most one per state.',
        resolve: async ({ id }, _args, context) =>
          sums(((await jobsOfClusters(context, id)) ?? []).map(({ state, jobs }) => ({ key: state, jobs }))).map(
            ({ key, jobs }) => ({ state: key, jobs }),
          ),
      }),
      pendingReasons: t.field({
        type: [SlurmReasonCount],
        description: 'Pending jobs by reason, the largest number first; at most 100.',
        resolve: async ({ id }, _args, context) =>
          sums(
            ((await jobsOfClusters(context, id)) ?? [])
              .filter(({ state }) => state === 'PENDING')
              .map(({ reason, jobs }) => ({ key: reason ?? 'None', jobs })),
          )
            .slice(0, 100)
            .map(({ key, jobs }) => ({ reason: key, jobs })),
      }),
    }
  },
})
