import {
  allocatedMemoryBytes,
  cpuEfficiency,
  formatLookupCursor,
  type PRIORITY_FACTORS,
  type SlurmLookupResult,
} from '@muster/core/clusters'
import { builder } from '../../builder.ts'
import { SlurmTres, toInt, tresList } from '../clusters/reports.ts'
import { same } from '../shared/enum-values.ts'

type JobRecord = SlurmLookupResult['jobs'][number]
type Step = JobRecord['steps'][number]
type Priority = SlurmLookupResult['priorities'][number]
type Share = SlurmLookupResult['shares'][number]

const SlurmJobStep = builder.objectRef<Step>('SlurmJobStep').implement({
  description: 'A step of a job: the batch script, `extern`, or a call of srun.',
  fields: (t) => ({
    stepId: t.exposeString('stepId', { description: '`batch`, `extern`, `interactive`, or the number of the call of srun.' }),
    name: t.exposeString('name', { nullable: true, description: 'Name; null for none.' }),
    state: t.exposeString('state', { description: "Slurm's word, for example `COMPLETED`." }),
    exitCode: t.int({
      nullable: true,
      description: 'Exit code; null when unknown.',
      resolve: ({ exitCode }) => exitCode && toInt(exitCode.code),
    }),
    exitSignal: t.int({
      nullable: true,
      description: 'Signal that ended it, 0 for none; null when unknown.',
      resolve: ({ exitCode }) => exitCode && toInt(exitCode.signal),
    }),
    startAt: t.expose('startAt', { type: 'DateTime', nullable: true, description: 'Start.' }),
    endAt: t.expose('endAt', { type: 'DateTime', nullable: true, description: 'End; null while it runs.' }),
    elapsedSeconds: t.int({ description: 'Run time in seconds.', resolve: ({ elapsedSeconds }) => toInt(elapsedSeconds) }),
    nodeList: t.exposeString('nodes', { description: 'Its nodes as a hostlist.' }),
    nodeCount: t.int({ description: 'Number of its nodes.', resolve: ({ nodeCount }) => toInt(nodeCount) }),
    tasks: t.int({
      nullable: true,
      description: 'Number of tasks; null when unknown.',
      resolve: ({ tasks }) => (tasks === null ? null : toInt(tasks)),
    }),
    cpus: t.int({ description: 'Number of allocated CPUs.', resolve: ({ cpus }) => toInt(cpus) }),
    tres: t.field({
      type: [SlurmTres],
      description: 'Allocated trackable resources; at most 100.',
      resolve: ({ tres }) => tresList(tres),
    }),
    cpuSeconds: t.exposeFloat('cpuSeconds', {
      nullable: true,
      description: 'Used CPU time in seconds, user and system; null when it was not measured.',
    }),
    memoryBytes: t.exposeFloat('memoryBytes', {
      nullable: true,
      description: 'Sum of the largest memory of each task in bytes; null when it was not measured.',
    }),
    maxTaskMemoryBytes: t.exposeFloat('maxTaskMemoryBytes', {
      nullable: true,
      description: 'Largest memory of one task in bytes; null when it was not measured.',
    }),
    maxTaskMemoryNode: t.exposeString('maxTaskMemoryNode', {
      nullable: true,
      description: 'Node on which that task ran; null when it was not measured.',
    }),
  }),
})

export const SlurmJobRecord = builder.objectRef<JobRecord>('SlurmJobRecord').implement({
  description:
    'A job, array task, or component of a heterogeneous job, as the accounting of a cluster recorded it. A job that was requeued has a record for each start.',
  fields: (t) => {
    const maybe = (
      name: 'name' | 'user' | 'account' | 'qos' | 'reason' | 'reservation' | 'workingDirectory' | 'comment',
      description: string,
    ) => t.exposeString(name, { nullable: true, description })
    const time = (name: 'submittedAt' | 'startAt' | 'endAt', description: string) =>
      t.expose(name, { type: 'DateTime', nullable: true, description })
    return {
      jobId: t.exposeString('jobId', { description: 'ID as squeue shows it: `15`, `3_1` (array task), `12+1`.' }),
      name: maybe('name', 'Name; null for none. sacct shows a backtick for each quote.'),
      user: maybe('user', 'User; null when unknown.'),
      account: maybe('account', 'Account; null for none.'),
      partition: t.exposeString('partition', { description: 'Partition; several, separated by commas, before the start.' }),
      qos: maybe('qos', 'QOS; null for none.'),
      state: t.exposeString('state', { description: "Slurm's word, for example `COMPLETED`." }),
      canceledByUid: t.int({
        nullable: true,
        description: 'UID of the user who canceled the job, on the hosts of the cluster; null when no user canceled it.',
        resolve: ({ canceledBy }) => (canceledBy === null ? null : toInt(canceledBy)),
      }),
      reason: maybe('reason', "Slurm's reason why the job was pending before its start; null for none."),
      exitCode: t.int({
        nullable: true,
        description: 'Exit code of the script; null when unknown.',
        resolve: ({ exitCode }) => exitCode && toInt(exitCode.code),
      }),
      exitSignal: t.int({
        nullable: true,
        description: 'Signal that ended the script, 0 for none; null when unknown.',
        resolve: ({ exitCode }) => exitCode && toInt(exitCode.signal),
      }),
      submittedAt: time('submittedAt', 'Time of the submission.'),
      startAt: time('startAt', 'Start; null when it never started.'),
      endAt: time('endAt', 'End; null while it waits or runs.'),
      elapsedSeconds: t.int({
        description: 'Run time in seconds, without suspensions.',
        resolve: ({ elapsedSeconds }) => toInt(elapsedSeconds),
      }),
      timeLimitMinutes: t.int({
        nullable: true,
        description: 'Time limit in minutes; null for no limit, and for the limit of the partition.',
        resolve: ({ timeLimit }) => (typeof timeLimit === 'number' ? toInt(timeLimit) : null),
      }),
      isTimeUnlimited: t.boolean({
        description: 'Whether it had no time limit.',
        resolve: ({ timeLimit }) => timeLimit === 'UNLIMITED',
      }),
      priority: t.exposeFloat('priority', { nullable: true, description: 'Priority; null when unknown.' }),
      nodeList: t.exposeString('nodes', { description: 'Allocated nodes as a hostlist; empty when it never started.' }),
      nodeCount: t.int({
        description: 'Number of allocated or requested nodes.',
        resolve: ({ nodeCount }) => toInt(nodeCount),
      }),
      cpus: t.int({ description: 'Number of allocated or requested CPUs.', resolve: ({ cpus }) => toInt(cpus) }),
      requestedTres: t.field({
        type: [SlurmTres],
        description: 'Requested trackable resources; at most 100.',
        resolve: ({ requestedTres }) => tresList(requestedTres),
      }),
      tres: t.field({
        type: [SlurmTres],
        description: 'Allocated trackable resources; at most 100.',
        resolve: ({ tres }) => tresList(tres),
      }),
      cpuSeconds: t.exposeFloat('cpuSeconds', {
        nullable: true,
        description: 'CPU time that its steps used in seconds; null when it was not measured, and in lists.',
      }),
      cpuEfficiency: t.float({
        nullable: true,
        description: 'Used CPU time divided by run time and CPUs: 1 is all of it. Null when it was not measured, and in lists.',
        resolve: cpuEfficiency,
      }),
      memoryBytes: t.exposeFloat('memoryBytes', {
        nullable: true,
        description:
          'Memory in bytes of the step that used most, all its tasks together; null when it was not measured, and in lists.',
      }),
      memoryLimitBytes: t.float({
        nullable: true,
        description: 'Allocated memory in bytes; null when the cluster does not allocate memory.',
        resolve: allocatedMemoryBytes,
      }),
      reservation: maybe('reservation', 'Reservation; null for none.'),
      workingDirectory: maybe('workingDirectory', 'Working directory; null when unknown.'),
      comment: maybe('comment', 'Comment; null when there is none, or the cluster does not record comments.'),
      steps: t.expose('steps', { type: [SlurmJobStep], description: 'Its steps; at most 200. Empty in lists.' }),
    }
  },
})

const SlurmPriorityFactorKind = builder.enumType('SlurmPriorityFactorKind', {
  description: 'A part of the priority of a job.',
  values: same({
    AGE: 'Time that it has waited.',
    ASSOCIATION: 'Priority of its association of user and account.',
    FAIR_SHARE: 'How much less than their share its user and account have used.',
    JOB_SIZE: 'Number of nodes or CPUs.',
    PARTITION: 'Priority of the partition.',
    QOS: 'Priority of its QOS.',
    SITE: 'Set by the site.',
    TRES: 'Amount of a resource.',
    NICE: 'Set by the user or an operator; negative for a positive nice value.',
  } satisfies Record<(typeof PRIORITY_FACTORS)[number], string>),
})

const SlurmPriorityFactor = builder.objectRef<Priority['factors'][number]>('SlurmPriorityFactor').implement({
  description: 'A part of the priority of a job.',
  fields: (t) => ({
    factor: t.expose('factor', { type: SlurmPriorityFactorKind, description: 'Kind.' }),
    resource: t.exposeString('resource', {
      nullable: true,
      description: "Slurm's name of the resource, for example `gres/gpu`; null except for TRES.",
    }),
    points: t.exposeFloat('points', { description: 'Points added to the priority: value times weight.' }),
    value: t.exposeFloat('value', { nullable: true, description: 'Value between 0 and 1; null where Slurm prints none.' }),
  }),
})

const SlurmJobPriority = builder.objectRef<Priority>('SlurmJobPriority').implement({
  description: 'The priority of a pending job in one of its partitions.',
  fields: (t) => ({
    partition: t.exposeString('partition', { description: 'Partition.' }),
    priority: t.exposeFloat('priority', { description: 'Sum of the factors.' }),
    factors: t.field({
      type: [SlurmPriorityFactor],
      description: 'Its parts; at most 100.',
      resolve: ({ factors }) => factors.slice(0, 100),
    }),
  }),
})

const SlurmShare = builder.objectRef<Share>('SlurmShare').implement({
  description: 'The shares of an account, or of a user in an account.',
  fields: (t) => ({
    account: t.exposeString('account', { description: 'Account.' }),
    user: t.exposeString('user', { nullable: true, description: 'User; null for the account itself.' }),
    shares: t.float({
      nullable: true,
      description: 'Assigned shares; null for the root, and for a user who has those of the account.',
      resolve: ({ shares }) => (typeof shares === 'number' ? shares : null),
    }),
    isParent: t.boolean({
      description: 'Whether it has the shares of the account (`fairshare=parent`).',
      resolve: ({ shares }) => shares === 'PARENT',
    }),
    normalizedShares: t.exposeFloat('normalizedShares', {
      nullable: true,
      description: 'Shares as a part of those at the same level, 0 to 1; null when Slurm prints none.',
    }),
    usage: t.exposeFloat('usage', {
      nullable: true,
      description: 'Usage in TRES seconds, which decays; null when Slurm prints none.',
    }),
    effectiveUsage: t.exposeFloat('effectiveUsage', {
      nullable: true,
      description: 'Usage as a part of that of the level above or of the cluster, 0 to 1; null when Slurm prints none.',
    }),
    fairShare: t.exposeFloat('fairShare', {
      nullable: true,
      description: 'Fair-share factor of priorities, 0 to 1; null for accounts with the fair tree algorithm.',
    }),
    levelFairShare: t.exposeFloat('levelFairShare', {
      nullable: true,
      description: 'Normalized shares divided by effective usage; null without usage.',
    }),
  }),
})

export const SlurmLookup = builder.drizzleNode('slurmLookups', {
  name: 'SlurmLookup',
  description:
    'A read-only query of the accounting or priorities of a Slurm cluster, executed by a worker, with its result. Deleted after an hour.',
  select: { columns: { id: true } },
  id: { column: (lookup) => lookup.id, description: 'ID of the lookup.' },
  fields: (t) => {
    const select = { columns: { result: true } } as const
    return {
      cluster: t.relation('cluster', { description: 'Its cluster.' }),
      jobs: t.field({
        type: [SlurmJobRecord],
        description:
          'Jobs, those that ended last first; at most 500. Of one job: its starts or array tasks in the order of the accounting, at most 200. Empty before the end.',
        select,
        resolve: ({ result }) => result?.jobs ?? [],
      }),
      searchedSince: t.field({
        type: 'DateTime',
        nullable: true,
        description: 'Jobs that ended before were not searched; null unless finished jobs were searched.',
        select,
        resolve: ({ result }) => (result?.searchedSinceSeconds == null ? null : new Date(result.searchedSinceSeconds * 1000)),
      }),
      endCursor: t.string({
        nullable: true,
        description: 'Value of `after` with which the next lookup continues; null at the end of the period, and before the end.',
        select,
        resolve: ({ result }) => (result?.next ? formatLookupCursor(result.next) : null),
      }),
      priorities: t.field({
        type: [SlurmJobPriority],
        description:
          'Priority of the job in each of its partitions; at most 200. Empty before the lookup has finished, and when the job is not pending.',
        select,
        resolve: ({ result }) => result?.priorities ?? [],
      }),
      shares: t.field({
        type: [SlurmShare],
        description: 'Shares of the account and user of the job; at most 200.',
        select,
        resolve: ({ result }) => result?.shares ?? [],
      }),
      hasAccounting: t.boolean({
        nullable: true,
        description: 'False when it failed because the cluster records no jobs; null before the end and after other failures.',
        select,
        resolve: ({ result }) => result?.hasAccounting,
      }),
      error: t.exposeString('error', { nullable: true, description: 'Why it failed; null before the end and after a success.' }),
      createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of the request.' }),
      startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'When a worker began; null before.' }),
      finishedAt: t.expose('finishedAt', {
        type: 'DateTime',
        nullable: true,
        description: 'When it finished; null while it is waiting or running.',
      }),
    }
  },
})
