import { tenantPermissions } from '@muster/core/access'
import { type SlurmStartEstimate as Estimate, estimateSlurmStarts } from '@muster/core/clusters'
import { schema } from '@muster/core/registry'
import { foldHostlist } from '@muster/core/selection'
import { sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import type { ApiContext } from '../../context.ts'
import { COMMON } from '../shared/errors.ts'
import { type GpuModelRow, inService, readGpuModels } from './gpu-models.ts'
import { SlurmCluster } from './types.ts'

const { slurmClusters, slurmJobs, slurmNodes } = schema

const MAX_REGIONS = 500
const MAX_MODELS = 500
const MAX_ESTIMATES = 500

const COUNTS = [
  ['clusters', 'Clusters.'],
  ['notAnswering', 'Clusters whose data is not current: they do not answer, or have not been read.'],
  ['nodes', 'Nodes.'],
  ['nodesInService', 'Nodes on which jobs can start.'],
  ['cpus', 'CPUs.'],
  ['allocatedCpus', 'CPUs that are allocated to jobs.'],
  ['gpus', 'GPUs; a MIG device counts as one.'],
  ['allocatedGpus', 'GPUs that are allocated to jobs.'],
  ['runningJobs', 'Running jobs.'],
  ['pendingJobs', 'Pending jobs; the pending part of an array counts as one.'],
] as const
type Counts = Record<(typeof COUNTS)[number][0], number>
type Region = Counts & { region: string | null }
type Model = Omit<GpuModelRow, 'clusterId'> & { clusters: GpuModelRow[] }

async function readRegions({ ctx }: ApiContext): Promise<Region[]> {
  const { rows } = await ctx.db.execute<Region>(sql`
    select c.region, count(*)::int as clusters, (count(*) filter (where c.state <> 'OK'))::int as "notAnswering",
      coalesce(sum(n.nodes), 0)::int as nodes, coalesce(sum(n.usable), 0)::int as "nodesInService",
      coalesce(sum(n.cpus), 0)::float8 as cpus, coalesce(sum(n.allocated_cpus), 0)::float8 as "allocatedCpus",
      coalesce(sum(n.gpus), 0)::float8 as gpus, coalesce(sum(n.allocated_gpus), 0)::float8 as "allocatedGpus",
      coalesce(sum(j.running), 0)::int as "runningJobs", coalesce(sum(j.pending), 0)::int as "pendingJobs"
    from ${slurmClusters} c
    left join (
      select n.cluster_id, count(*) as nodes, count(*) filter (where ${inService}) as usable, sum(n.cpus) as cpus,
        sum(n.allocated_cpus) as allocated_cpus, sum(n.gpus) as gpus, sum(n.allocated_gpus) as allocated_gpus
      from ${slurmNodes} n where n.tenant_id = ${ctx.tenantId} group by n.cluster_id) n on n.cluster_id = c.id
    left join (
      select j.cluster_id, count(*) filter (where j.state = 'RUNNING') as running, count(*) filter (where j.state = 'PENDING') as pending
      from ${slurmJobs} j where j.tenant_id = ${ctx.tenantId} group by j.cluster_id) j on j.cluster_id = c.id
    where c.tenant_id = ${ctx.tenantId}
    group by c.region order by c.region nulls last`)
  return rows
}

async function readModels({ ctx }: ApiContext): Promise<Model[]> {
  const rows = await readGpuModels(ctx)
  return [...Map.groupBy(rows, ({ model }) => model)]
    .map(([model, clusters]) => {
      const sum = (of: 'gpus' | 'inService' | 'allocated' | 'idle') => clusters.reduce((all, row) => all + row[of], 0)
      return {
        ...{ model, gpus: sum('gpus'), inService: sum('inService'), allocated: sum('allocated'), idle: sum('idle') },
        clusters: clusters.sort((a, b) => b.idle - a.idle),
      }
    })
    .sort((a, b) => b.idle - a.idle || (a.model < b.model ? -1 : 1))
}

const clusterOf = (id: string) => ({ id }) as typeof SlurmCluster.$inferType

const SlurmRegionTotals = builder.objectRef<Region>('SlurmRegionTotals').implement({
  description: 'Totals of the Slurm clusters of one region.',
  fields: (t) => ({
    region: t.exposeString('region', { nullable: true, description: 'Region; null: clusters without one.' }),
    ...Object.fromEntries(COUNTS.map(([name, description]) => [name, t.int({ description, resolve: (row) => row[name] })])),
  }),
})

const SlurmGpuModelInCluster = builder.objectRef<GpuModelRow>('SlurmGpuModelInCluster').implement({
  description: 'GPUs of one model in one cluster.',
  fields: (t) => ({
    cluster: t.field({ type: SlurmCluster, description: 'The cluster.', resolve: ({ clusterId }) => clusterOf(clusterId) }),
    gpus: t.exposeInt('gpus', { description: 'GPUs.' }),
    inService: t.exposeInt('inService', { description: 'GPUs of nodes on which jobs can start.' }),
    allocated: t.exposeInt('allocated', { description: 'GPUs that are allocated to jobs.' }),
    idle: t.exposeInt('idle', { description: 'GPUs of nodes in service that are not allocated.' }),
  }),
})

const SlurmGpuModel = builder.objectRef<Model>('SlurmGpuModel').implement({
  description: 'GPUs of one model in all clusters.',
  fields: (t) => ({
    model: t.exposeString('model', { description: 'Type as Slurm names it, for example `h100`; `gpu` for GPUs without a type.' }),
    gpus: t.exposeInt('gpus', { description: 'GPUs.' }),
    inService: t.exposeInt('inService', { description: 'GPUs of nodes on which jobs can start.' }),
    allocated: t.exposeInt('allocated', { description: 'GPUs that are allocated to jobs.' }),
    idle: t.exposeInt('idle', { description: 'GPUs of nodes in service that are not allocated.' }),
    clusters: t.field({
      type: [SlurmGpuModelInCluster],
      description: 'Clusters with this model, most idle GPUs first; at most 500.',
      resolve: ({ clusters }) => clusters.slice(0, 500),
    }),
  }),
})

const SlurmTotals = builder.objectRef<Region[]>('SlurmTotals').implement({
  description: 'Totals of all Slurm clusters, by the last refresh of each.',
  fields: (t) => ({
    ...Object.fromEntries(
      COUNTS.map(([name, description]) => [
        name,
        t.int({ description, resolve: (regions) => regions.reduce((sum, region) => sum + region[name], 0) }),
      ]),
    ),
    regions: t.field({
      type: [SlurmRegionTotals],
      description: `Totals of each region, by name; at most ${MAX_REGIONS}.`,
      resolve: (regions) => regions.slice(0, MAX_REGIONS),
    }),
    gpuModels: t.field({
      type: [SlurmGpuModel],
      description: `GPUs by model, most idle ones first; at most ${MAX_MODELS}.`,
      complexity: 10,
      resolve: async (_regions, _args, context) => (await readModels(context)).slice(0, MAX_MODELS),
    }),
  }),
})

const SlurmStartEstimate = builder.objectRef<Estimate>('SlurmStartEstimate').implement({
  description:
    'Estimated start of a job in one partition. Backfill, fair share, limits of users, licenses and topology are not considered: the real start may be earlier or later.',
  fields: (t) => ({
    cluster: t.field({ type: SlurmCluster, description: 'The cluster.', resolve: ({ cluster }) => clusterOf(cluster.id) }),
    partition: t.exposeString('partition', { description: 'Name of the partition.' }),
    startAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Estimated start; null when none can be estimated.',
      resolve: ({ startAt }) => (startAt === null ? null : new Date(startAt)),
    }),
    nodeList: t.string({
      description: 'Hostlist of nodes that it could use; empty without a start.',
      resolve: ({ nodes }) => foldHostlist(nodes),
    }),
    jobsAhead: t.exposeInt('jobsAhead', { description: 'Pending jobs that were placed before it; at most 500 are.' }),
    blockedReason: t.exposeString('blockedReason', {
      nullable: true,
      description: 'Why no start can be estimated; null when one can.',
    }),
  }),
})

const SlurmStartEstimates = builder.objectRef<Estimate[]>('SlurmStartEstimates').implement({
  description: 'Estimated starts of a job, the earliest first.',
  fields: (t) => ({
    estimates: t.field({
      type: [SlurmStartEstimate],
      description: `One per partition of each cluster that answers; at most ${MAX_ESTIMATES}.`,
      resolve: (estimates) => estimates.slice(0, MAX_ESTIMATES),
    }),
  }),
})

const SlurmStartInput = builder.inputType('SlurmStartInput', {
  description: 'Resources of a job, on each of its nodes.',
  fields: (t) => ({
    partition: t.string({ description: 'Only partitions with this name.' }),
    nodes: t.int({ description: 'Number of nodes. Default: 1.' }),
    cpus: t.int({ required: true, description: 'CPUs.' }),
    memoryBytes: t.float({ description: 'Memory in bytes. Default: 0.' }),
    gpus: t.int({ description: 'GPUs. Default: 0.' }),
    gpuType: t.string({ description: 'Type of the GPUs as Slurm names it. Default: any.' }),
    timeLimitMinutes: t.int({ required: true, description: 'Time limit in minutes.' }),
  }),
})

builder.queryFields((t) => ({
  slurmTotals: t.field({
    type: SlurmTotals,
    description: 'Totals of all Slurm clusters of the tenant, by region, and their GPUs by model.',
    authScopes: { permission: tenantPermissions.read },
    resolve: (_root, _args, context) => readRegions(context),
  }),
  slurmStartEstimates: t.field({
    type: SlurmStartEstimates,
    description:
      'Estimates in which cluster and partition a job would start first: by the nodes, partitions and queues of the last refresh.',
    authScopes: { permission: tenantPermissions.read },
    errors: { types: [...COMMON] },
    args: { input: t.arg({ type: SlurmStartInput, required: true, description: 'The job.' }) },
    resolve: (_root, { input }, { ctx }) => estimateSlurmStarts(ctx, input),
  }),
}))
