import type { PlannedBatch, SlurmRunPlan } from '@muster/core/runs'
import { builder } from '../../../builder.ts'
import { SlurmCluster } from '../../clusters/types.ts'
import { HostSet } from '../hosts.ts'

const MAX_BATCHES = 500
const MAX_JOBS = 500
const MAX_PARTITIONS = 500
const MAX_SKIPPED = 500

type PlannedJob = PlannedBatch['jobs'][number]

const RunPreviewJob = builder.objectRef<PlannedJob>('RunPreviewJob').implement({
  description: 'A job on nodes of a planned batch.',
  fields: (t) => ({
    jobId: t.exposeString('jobId', { description: 'ID as squeue shows it.' }),
    endsAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Its end by its time limit; null without a limit.',
      resolve: ({ endsAt }) => (endsAt === null ? null : new Date(endsAt)),
    }),
  }),
})

const RunPreviewBatch = builder.objectRef<PlannedBatch>('RunPreviewBatch').implement({
  description: 'A batch as it would be now.',
  fields: (t) => ({
    hosts: t.field({ type: HostSet, description: 'Its hosts.', resolve: ({ hosts }) => hosts }),
    jobCount: t.int({ description: 'Number of jobs that run on them now.', resolve: ({ jobs }) => jobs.length }),
    jobs: t.field({
      type: [RunPreviewJob],
      description: `These jobs; at most ${MAX_JOBS}.`,
      resolve: ({ jobs }) => jobs.slice(0, MAX_JOBS),
    }),
    waitSeconds: t.exposeInt('waitSeconds', {
      nullable: true,
      description: 'Longest wait for these jobs, by their time limits, in seconds; null when one has no limit.',
    }),
  }),
})

const RunPreviewPartition = builder.objectRef<SlurmRunPlan['partitions'][number]>('RunPreviewPartition').implement({
  description: 'Capacity of a partition.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name.' }),
    nodes: t.exposeInt('nodes', { description: 'Number of its nodes.' }),
    inService: t.exposeInt('inService', { description: 'Nodes on which jobs can start.' }),
    floor: t.exposeInt('floor', { description: 'Nodes that stay in service.' }),
  }),
})

const RunPreviewSkippedHost = builder.objectRef<SlurmRunPlan['skipped'][number]>('RunPreviewSkippedHost').implement({
  description: 'A host that would not be drained now, or cannot be placed in a batch yet.',
  fields: (t) => ({
    host: t.exposeString('host', { description: 'Name of the host.' }),
    reason: t.exposeString('reason', { description: 'Why the host is skipped or waits.' }),
  }),
})

export const RunPreviewSlurm = builder.objectRef<SlurmRunPlan>('RunPreviewSlurm').implement({
  description: 'Preview of a run that drains nodes of a Slurm cluster, by the last refresh of the cluster.',
  fields: (t) => ({
    cluster: t.field({
      type: SlurmCluster,
      description: 'The cluster.',
      resolve: ({ clusterId }) => ({ id: clusterId }) as typeof SlurmCluster.$inferType,
    }),
    clusterName: t.exposeString('clusterName', { description: 'Name of the cluster.' }),
    batchCount: t.int({ description: 'Number of batches.', resolve: ({ batches }) => batches.length }),
    batches: t.field({
      type: [RunPreviewBatch],
      description: `The first batches in order; at most ${MAX_BATCHES}.`,
      resolve: ({ batches }) => batches.slice(0, MAX_BATCHES),
    }),
    partitions: t.field({
      type: [RunPreviewPartition],
      description: `Partitions of the nodes; at most ${MAX_PARTITIONS}.`,
      resolve: ({ partitions }) => partitions.slice(0, MAX_PARTITIONS),
    }),
    outOfService: t.field({
      type: HostSet,
      description: 'Hosts that are already drained or down. They are not resumed afterwards.',
      resolve: ({ outOfService }) => outOfService,
    }),
    skipped: t.field({
      type: [RunPreviewSkippedHost],
      description: `Hosts that would not be drained now; at most ${MAX_SKIPPED}.`,
      resolve: ({ skipped }) => skipped.slice(0, MAX_SKIPPED),
    }),
    waiting: t.field({
      type: [RunPreviewSkippedHost],
      description: `Hosts that cannot be placed in a batch yet, with the reason; at most ${MAX_SKIPPED}.`,
      resolve: ({ waiting }) => waiting.slice(0, MAX_SKIPPED),
    }),
    waitsFor: t.exposeString('waitsFor', {
      nullable: true,
      description: 'Why no batch could begin now; null when one could.',
    }),
    playbookSeconds: t.exposeInt('playbookSeconds', {
      nullable: true,
      description: 'Duration of the last successful run of the template in seconds; null when there was none.',
    }),
    estimatedSeconds: t.exposeInt('estimatedSeconds', {
      nullable: true,
      description:
        'Estimated duration in seconds: the waits for the jobs that run now and `playbookSeconds` of each batch. Null when a job has no time limit.',
    }),
  }),
})
