import { isOneOf, visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import type { JobRunBatch as BatchRow, JobRunSlurmNode, SlurmRun } from '@muster/core/runs'
import { and, asc } from 'drizzle-orm'
import { builder } from '../../../builder.ts'
import type { ApiContext } from '../../../context.ts'
import { SlurmCluster } from '../../clusters/types.ts'
import { loader } from '../../shared/loaders.ts'
import { JobRunBatchPhase } from '../enums.ts'
import { HostSet } from '../hosts.ts'
import { JobRun, runOf } from '../types.ts'

const { jobRunBatches, jobRunSlurmNodes, slurmClusters } = schema

const MAX_BATCHES = 500

type Of<T> = Map<string, T[]>
const by = <T extends { jobRunId: string }>(rows: T[]): Of<T> => Map.groupBy(rows, ({ jobRunId }) => jobRunId)

const batchesOfRuns = loader<BatchRow[]>(async ({ ctx }, ids) =>
  by(
    await ctx.db
      .select()
      .from(jobRunBatches)
      .where(and(visibleTo(ctx, jobRunBatches), isOneOf(jobRunBatches.jobRunId, [...ids])))
      .orderBy(asc(jobRunBatches.number)),
  ),
)
const nodesOfRuns = loader<JobRunSlurmNode[]>(async ({ ctx }, ids) =>
  by(
    await ctx.db
      .select()
      .from(jobRunSlurmNodes)
      .where(and(visibleTo(ctx, jobRunSlurmNodes), isOneOf(jobRunSlurmNodes.jobRunId, [...ids])))
      .orderBy(asc(jobRunSlurmNodes.name)),
  ),
)
/** IDs of the runs over batches that started these runs. */
const parentsOfRuns = loader<string>(async ({ ctx }, ids) => {
  const rows = await ctx.db
    .select({ id: jobRunBatches.jobRunId, childRunId: jobRunBatches.childRunId })
    .from(jobRunBatches)
    .where(and(visibleTo(ctx, jobRunBatches), isOneOf(jobRunBatches.childRunId, [...ids])))
  return new Map(rows.map((row) => [row.childRunId!, row.id]))
})
const clusters = loader<string>(async ({ ctx }, ids) => {
  const rows = await ctx.db
    .select({ id: slurmClusters.id })
    .from(slurmClusters)
    .where(and(visibleTo(ctx, slurmClusters), isOneOf(slurmClusters.id, [...ids])))
  return new Map(rows.map(({ id }) => [id, id]))
})

const hostsOf = async (context: ApiContext, runId: string, isWanted: (node: JobRunSlurmNode) => boolean): Promise<string[]> =>
  ((await nodesOfRuns(context, runId)) ?? []).filter(isWanted).map(({ host }) => host)

const JobRunBatch = builder.objectRef<BatchRow>('JobRunBatch').implement({
  description: 'One batch of a run over nodes of a Slurm cluster.',
  fields: (t) => ({
    number: t.exposeInt('number', { description: 'Number, from 1.' }),
    phase: t.expose('phase', { type: JobRunBatchPhase, description: 'What it does.' }),
    phaseSince: t.expose('phaseSince', { type: 'DateTime', description: 'Since when it does that.' }),
    hosts: t.field({
      type: HostSet,
      description: 'Its hosts.',
      resolve: ({ id, jobRunId }, _args, context) => hostsOf(context, jobRunId, ({ batchId }) => batchId === id),
    }),
    run: t.field({
      type: JobRun,
      nullable: true,
      description: 'The run that executes the playbook on them; null before, and when it was deleted.',
      resolve: ({ childRunId }) => (childRunId === null ? null : runOf(childRunId)),
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why it failed; null when it did not.' }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'When it ended; null before.' }),
  }),
})

const JobRunSlurm = builder.objectRef<SlurmRun & { runId: string }>('JobRunSlurm').implement({
  description: 'Progress of a run that drains nodes of a Slurm cluster batch by batch.',
  fields: (t) => ({
    cluster: t.field({
      type: SlurmCluster,
      nullable: true,
      description: 'The cluster; null when it was removed.',
      resolve: async ({ clusterId }, _args, context) =>
        (await clusters(context, clusterId)) ? ({ id: clusterId } as typeof SlurmCluster.$inferType) : null,
    }),
    clusterName: t.exposeString('clusterName', { description: 'Name of the cluster when the run was started.' }),
    batchSize: t.exposeInt('batchSize', { description: 'Nodes that are out of service at the same time.' }),
    deadlineSeconds: t.exposeInt('deadlineSeconds', { description: 'How long a batch waits for jobs and capacity, in seconds.' }),
    floorPercent: t.exposeInt('floorPercent', {
      description: 'Percentage of the nodes of each partition that stay in service.',
    }),
    healthSeconds: t.exposeInt('healthSeconds', { description: 'How long nodes may take to be healthy again, in seconds.' }),
    includeReserved: t.exposeBoolean('includeReserved', { description: 'Whether reserved nodes are drained.' }),
    maintenanceOnly: t.exposeBoolean('maintenanceOnly', {
      description: 'Whether nodes are drained only during a reservation for maintenance.',
    }),
    waitsFor: t.exposeString('waitsFor', {
      nullable: true,
      description: 'What it waits for, for example `the jobs 15, 16 on gpu[001-002]`; null when nothing.',
    }),
    batches: t.field({
      type: [JobRunBatch],
      description: `The last batches in order; at most ${MAX_BATCHES}.`,
      resolve: async ({ runId }, _args, context) => ((await batchesOfRuns(context, runId)) ?? []).slice(-MAX_BATCHES),
    }),
    drained: t.field({
      type: HostSet,
      description: 'Hosts that this run has drained and not resumed.',
      resolve: ({ runId }, _args, context) => hostsOf(context, runId, ({ isDrained }) => isDrained),
    }),
    pending: t.field({
      type: HostSet,
      description: 'Hosts that are in no batch yet.',
      resolve: ({ runId }, _args, context) =>
        hostsOf(context, runId, ({ batchId, outcome }) => batchId === null && outcome === null),
    }),
  }),
})

builder.drizzleObjectFields(JobRun, (t) => ({
  slurm: t.field({
    type: JobRunSlurm,
    nullable: true,
    description: 'Batches of a run that drains nodes of a Slurm cluster; null for other runs.',
    select: { columns: { id: true, slurm: true } },
    resolve: ({ id, slurm }) => slurm && { ...slurm, runId: id },
  }),
  batchOf: t.field({
    type: JobRun,
    nullable: true,
    description: 'The run over batches that started this one for a batch; null for other runs.',
    select: { columns: { id: true } },
    resolve: async ({ id }, _args, context) => {
      const parent = await parentsOfRuns(context, id)
      return parent ? runOf(parent) : null
    },
  }),
}))
