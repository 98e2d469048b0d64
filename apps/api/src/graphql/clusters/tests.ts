import type { SlurmClusterTest as Row } from '@muster/core/clusters'
import { builder } from '../../builder.ts'
import { SlurmController, SlurmQueryReport, toInt } from './reports.ts'

type Preview = NonNullable<Row['preview']>

const SlurmClusterPreview = builder.objectRef<Preview>('SlurmClusterPreview').implement({
  description: 'What a test of a Slurm controller found.',
  fields: (t) => {
    const count = (name: 'nodes' | 'cpus' | 'gpus' | 'jobs', description: string) =>
      t.int({ description, resolve: (preview) => toInt(preview[name]) })
    return {
      clusterName: t.exposeString('clusterName', {
        nullable: true,
        description: 'ClusterName of slurm.conf; null when not set.',
      }),
      version: t.exposeString('version', { nullable: true, description: 'Version of Slurm.' }),
      controllers: t.expose('controllers', {
        type: [SlurmController],
        description: 'Its controllers, the primary first; at most 10.',
      }),
      nodes: count('nodes', 'Number of nodes.'),
      cpus: count('cpus', 'Number of CPUs.'),
      gpus: count('gpus', 'Number of GPUs.'),
      jobs: count('jobs', 'Number of jobs.'),
      partitions: t.stringList({
        description: 'Names of the partitions; at most 1,000.',
        resolve: ({ partitions }) => partitions.slice(0, 1000),
      }),
    }
  },
})

export const SlurmClusterTest = builder.drizzleNode('slurmClusterTests', {
  name: 'SlurmClusterTest',
  description: 'A test of a Slurm controller. It changes nothing there.',
  select: { columns: { id: true } },
  id: { column: (test) => test.id },
  fields: (t) => ({
    node: t.relation('node', { description: 'Tested node.' }),
    programFolder: t.exposeString('programFolder', {
      nullable: true,
      description: "Folder of Slurm's programs; null when they are on the path.",
    }),
    queries: t.expose('queries', {
      type: [SlurmQueryReport],
      description: 'The finished commands in order; at most 20.',
    }),
    preview: t.expose('preview', {
      type: SlurmClusterPreview,
      nullable: true,
      description: 'What was found; null until the cluster could be read.',
    }),
    isOk: t.exposeBoolean('isOk', { nullable: true, description: 'Whether the cluster could be read; null while unfinished.' }),
    error: t.exposeString('error', { nullable: true, description: 'Reason of the failure; null otherwise.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of the request.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'Time of the start.' }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'Time of the end.' }),
  }),
})
