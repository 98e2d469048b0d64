import type { SlurmPartitionRow } from '@muster/core/clusters'
import { builder } from '../../builder.ts'
import { connectionTypes } from '../shared/connections.ts'
import { SlurmTres, toInt, tresList } from './reports.ts'
import { jobsOfPartitions, nodesOfPartitions, SlurmJobCount, SlurmNodeCount } from './totals.ts'

type Report = SlurmPartitionRow['report']

export const SlurmPartition = builder.drizzleNode('slurmPartitions', {
  name: 'SlurmPartition',
  description: 'A partition of a Slurm cluster, as slurmctld reported it when the cluster was last read.',
  select: { columns: { id: true } },
  id: { column: (partition) => partition.id },
  fields: (t) => {
    const select = { columns: { report: true } } as const
    const allowed = (name: 'allowGroups' | 'allowAccounts' | 'allowQos', what: string) =>
      t.stringList({
        description: `${what} that may use it; empty: all. At most 1,000.`,
        select,
        resolve: ({ report }) => report[name].slice(0, 1000),
      })
    const limit = (name: 'maxTime' | 'defaultTime' | 'maxNodes', description: string) =>
      t.int({
        nullable: true,
        description,
        select,
        resolve: ({ report }) => numberOf(report[name]),
      })
    return {
      cluster: t.relation('cluster', { description: 'Its cluster.' }),
      name: t.exposeString('name', { description: 'Name, unique in the cluster.' }),
      state: t.string({
        description:
          "Slurm's word: `UP`, `DOWN` (accepts jobs, starts none), `DRAIN` (accepts none, starts queued jobs) or `INACTIVE`.",
        select,
        resolve: ({ report }) => report.state,
      }),
      isDefault: t.boolean({
        description: 'Whether jobs without a partition use it.',
        select,
        resolve: ({ report }) => report.isDefault,
      }),
      isHidden: t.boolean({
        description: 'Whether only users that may use it see it.',
        select,
        resolve: ({ report }) => report.hidden,
      }),
      nodeList: t.string({
        description: 'Its nodes as a hostlist; can be empty.',
        select,
        resolve: ({ report }) => report.nodes,
      }),
      nodeCount: t.int({ description: 'Number of its nodes.', select, resolve: ({ report }) => toInt(report.totalNodes) }),
      cpus: t.int({ description: 'CPUs of its nodes.', select, resolve: ({ report }) => toInt(report.totalCpus) }),
      maxTimeMinutes: limit('maxTime', 'Longest time limit of a job in minutes; null for no limit.'),
      defaultTimeMinutes: limit('defaultTime', 'Time limit of jobs that request none, in minutes; null for the longest one.'),
      maxNodes: limit('maxNodes', 'Most nodes of a job; null for no limit.'),
      allowGroups: allowed('allowGroups', 'Groups'),
      allowAccounts: allowed('allowAccounts', 'Accounts'),
      allowQos: allowed('allowQos', 'QOS'),
      qos: t.string({
        nullable: true,
        description: 'QOS of the partition; null for none.',
        select,
        resolve: ({ report }) => report.qos,
      }),
      priorityTier: t.int({
        description: 'Jobs of partitions with a higher tier start first.',
        select,
        resolve: ({ report }) => toInt(report.priorityTier),
      }),
      priorityJobFactor: t.int({
        description: 'Part of the priority of its jobs.',
        select,
        resolve: ({ report }) => toInt(report.priorityJobFactor),
      }),
      tres: t.field({
        type: [SlurmTres],
        description: 'Trackable resources of its nodes; at most 100.',
        select,
        resolve: ({ report }) => tresList(report.tres),
      }),
      nodesByState: t.field({
        type: [SlurmNodeCount],
        description: 'Its nodes by state, the largest number first. At most one per state.',
        resolve: async ({ id }, _args, context) => (await nodesOfPartitions(context, id)) ?? [],
      }),
      jobsByState: t.field({
        type: [SlurmJobCount],
        description: 'Its jobs by state, the largest number first. At most one per state.',
        resolve: async ({ id }, _args, context) => (await jobsOfPartitions(context, id)) ?? [],
      }),
    }
  },
})

const numberOf = (limit: Report['maxTime']) => (typeof limit === 'number' ? toInt(limit) : null)

export const slurmPartitionConnection = connectionTypes(SlurmPartition, 'SlurmPartition', 'partitions of Slurm clusters')
