import type { SlurmJobRow } from '@muster/core/clusters'
import { builder } from '../../builder.ts'
import { connectionTypes } from '../shared/connections.ts'
import { SlurmGres, withoutUse } from './gres.ts'
import { SlurmTres, toInt, tresList } from './reports.ts'

type Report = SlurmJobRow['report']

export const SlurmJob = builder.drizzleNode('slurmJobs', {
  name: 'SlurmJob',
  description:
    'A job of a Slurm cluster: a job, an array task, the pending part of an array, or a component of a heterogeneous job. slurmctld keeps finished jobs for a few minutes (MinJobAge).',
  select: { columns: { id: true } },
  id: { column: (job) => job.id },
  fields: (t) => {
    const select = { columns: { report: true } } as const
    const maybe = (
      name:
        | 'name'
        | 'account'
        | 'qos'
        | 'reasonDetail'
        | 'licenses'
        | 'dependency'
        | 'reservation'
        | 'comment'
        | 'workingDirectory',
      description: string,
    ) => t.string({ nullable: true, description, select, resolve: ({ report }) => report[name] })
    const time = (name: 'submittedAt' | 'startAt' | 'endAt', description: string) =>
      t.field({ type: 'DateTime', nullable: true, description, select, resolve: ({ report }) => report[name] })
    const minutes = ({ timeLimit }: Report) => (typeof timeLimit === 'number' ? toInt(timeLimit) : null)
    return {
      cluster: t.relation('cluster', { description: 'Its cluster.' }),
      jobId: t.exposeString('jobId', {
        description: 'ID as squeue shows it: `15`, `3_1` (array task), `3_[2-9%2]` (pending part of an array), `12+1`.',
      }),
      name: maybe('name', 'Name; null for none.'),
      user: t.exposeString('userName', { nullable: true, description: 'User; null when unknown.' }),
      account: maybe('account', 'Account; null for none.'),
      partition: t.exposeString('partition', { description: 'Partition; several, separated by commas, while pending.' }),
      qos: maybe('qos', 'QOS; null for none.'),
      state: t.exposeString('state', { description: "Slurm's word for the base state, for example `PENDING`." }),
      states: t.stringList({
        description: "Slurm's words: the base state, then all flags, for example `PENDING`, `REQUEUED`. At most 50.",
        select,
        resolve: ({ report }) => report.states.slice(0, 50),
      }),
      reason: t.exposeString('reason', {
        nullable: true,
        description: "Slurm's word for why it does not run or has ended, for example `Resources`; null for none.",
      }),
      reasonDetail: maybe('reasonDetail', 'The reason with details, for example the unavailable nodes; null for none.'),
      priority: t.float({
        nullable: true,
        description: 'Priority; null when unknown.',
        select,
        resolve: ({ report }) => report.priority,
      }),
      submittedAt: time('submittedAt', 'Time of the submission.'),
      startAt: time('startAt', 'Start; the expected start while pending. Null when unknown.'),
      endAt: time('endAt', 'End; the latest end by the time limit while it runs. Null without one.'),
      timeLimitMinutes: t.int({
        nullable: true,
        description: 'Time limit in minutes; null for no limit, and for the default of the partition.',
        select,
        resolve: ({ report }) => minutes(report),
      }),
      isTimeUnlimited: t.boolean({
        description: 'Whether it has no time limit.',
        select,
        resolve: ({ report }) => report.timeLimit === 'UNLIMITED',
      }),
      nodeList: t.string({
        description: 'Allocated nodes as a hostlist; empty while pending.',
        select,
        resolve: ({ report }) => report.nodes,
      }),
      nodeCount: t.int({
        description: 'Number of allocated or requested nodes.',
        select,
        resolve: ({ report }) => toInt(report.nodeCount),
      }),
      cpus: t.int({
        description: 'Number of allocated or requested CPUs.',
        select,
        resolve: ({ report }) => toInt(report.cpus),
      }),
      gres: t.field({
        type: [SlurmGres],
        description:
          'Generic resources of the whole job: allocated, or requested while pending. At most 100. GPUs per socket are listed only where Slurm tracks `gres/gpu`.',
        select,
        resolve: ({ report }) => withoutUse(report.gres),
      }),
      tres: t.field({
        type: [SlurmTres],
        description:
          'Trackable resources of the whole job: allocated, or requested while pending. At most 100. Slurm lists the generic resources in AccountingStorageTRES only.',
        select,
        resolve: ({ report }) => tresList(report.tres),
      }),
      licenses: maybe(
        'licenses',
        'Requested licenses as Slurm prints them, for example `matlab:2,ansys@server:1`; null for none.',
      ),
      dependency: maybe('dependency', 'Unfulfilled dependencies, for example `afterok:12`; null for none.'),
      reservation: maybe('reservation', 'Reservation; null for none.'),
      comment: maybe('comment', 'Comment; null for none.'),
      workingDirectory: maybe('workingDirectory', 'Working directory; null when unknown.'),
      exitCode: t.int({
        nullable: true,
        description: 'Exit code of a finished job; null before its end.',
        select,
        resolve: ({ report }) => report.exitCode && toInt(report.exitCode.code),
      }),
      exitSignal: t.int({
        nullable: true,
        description: 'Signal that ended the job, 0 for none; null before its end.',
        select,
        resolve: ({ report }) => report.exitCode && toInt(report.exitCode.signal),
      }),
    }
  },
})

export const slurmJobConnection = connectionTypes(SlurmJob, 'SlurmJob', 'jobs of Slurm clusters')
