import type { QueryReport, SlurmCluster } from '@muster/core/clusters'
import { builder } from '../../builder.ts'
import { SlurmQueryState } from './enums.ts'

/** Largest value of the type Int. A controller can print larger numbers. */
const MAX_INT = 2 ** 31 - 1

/** A number that a controller printed, as the type Int holds it. */
export const toInt = (value: number): number => Math.max(-MAX_INT, Math.min(MAX_INT, Math.round(value)))

export const SlurmQueryReport = builder.objectRef<QueryReport>('SlurmQueryReport').implement({
  description: 'A command that was run on the host of a Slurm controller, or a request to slurmrestd.',
  fields: (t) => ({
    query: t.exposeString('query', { description: 'What was read, for example `nodes` or `munge`.' }),
    command: t.exposeString('command', { description: 'The command as a shell shows it, or `GET` and a path of slurmrestd.' }),
    state: t.expose('state', { type: SlurmQueryState, description: 'Result.' }),
    exitCode: t.exposeInt('exitCode', {
      nullable: true,
      description: 'Exit code; null when a signal or the deadline ended the command, it was not run, or it was a request.',
    }),
    durationMs: t.exposeInt('durationMs', { description: 'Duration in ms.' }),
    detail: t.exposeString('detail', { nullable: true, description: 'What was found, or the reason of the failure.' }),
    hint: t.exposeString('hint', { nullable: true, description: 'Next step after a failure.' }),
  }),
})

export const SlurmController = builder.objectRef<SlurmCluster['controllers'][number]>('SlurmController').implement({
  description: 'A slurmctld, as `scontrol ping` reports it.',
  fields: (t) => ({
    role: t.exposeString('role', { description: '`primary`, `backup`, `backup1`, …' }),
    hostname: t.exposeString('hostname', { description: 'Host name.' }),
    isUp: t.exposeBoolean('isUp', { description: 'Whether it answered the last ping.' }),
  }),
})

export const SlurmSetting = builder.objectRef<{ name: string; value: string }>('SlurmSetting').implement({
  description: 'A line of `scontrol show config`.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name.' }),
    value: t.exposeString('value', { description: 'Value as Slurm prints it.' }),
  }),
})

/** Trackable resources as a list. */
export const tresList = (tres: Record<string, number>) =>
  Object.entries(tres)
    .slice(0, 100)
    .map(([name, amount]) => ({ name, amount }))

export const SlurmTres = builder.objectRef<{ name: string; amount: number }>('SlurmTres').implement({
  description: 'An amount of a trackable resource.',
  fields: (t) => ({
    name: t.exposeString('name', { description: "Slurm's name, for example `cpu`, `mem` or `gres/gpu:h100`." }),
    amount: t.exposeFloat('amount', { description: 'Amount; of `mem` in MiB.' }),
  }),
})

export const SlurmReservation = builder.objectRef<SlurmCluster['reservations'][number]>('SlurmReservation').implement({
  description: 'A reservation of a Slurm cluster.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, unique in the cluster.' }),
    startAt: t.expose('startAt', { type: 'DateTime', nullable: true, description: 'Start.' }),
    endAt: t.expose('endAt', { type: 'DateTime', nullable: true, description: 'End.' }),
    nodeList: t.exposeString('nodes', { description: 'Reserved nodes as a hostlist; can be empty.' }),
    nodeCount: t.int({ description: 'Number of reserved nodes.', resolve: ({ nodeCount }) => toInt(nodeCount) }),
    partition: t.exposeString('partition', { nullable: true, description: 'Partition; null for none.' }),
    flags: t.stringList({
      description: "Slurm's words, for example `MAINT` and `IGNORE_JOBS`; at most 100.",
      resolve: ({ flags }) => flags.slice(0, 100),
    }),
    users: t.stringList({ description: 'Users that may use it; at most 1,000.', resolve: ({ users }) => users.slice(0, 1000) }),
    accounts: t.stringList({
      description: 'Accounts that may use it; at most 1,000.',
      resolve: ({ accounts }) => accounts.slice(0, 1000),
    }),
    tres: t.field({
      type: [SlurmTres],
      description: 'Reserved resources; at most 100.',
      resolve: ({ tres }) => tresList(tres),
    }),
    comment: t.exposeString('comment', { nullable: true, description: 'Comment; null when there is none.' }),
  }),
})

export const SlurmLicense = builder.objectRef<SlurmCluster['licenses'][number]>('SlurmLicense').implement({
  description: 'A license of a Slurm cluster, as slurmctld counts it.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: 'Name, unique in the cluster; with the server, `ansys@server`, where it has one.',
    }),
    total: t.int({ description: 'Number of licenses.', resolve: ({ total }) => toInt(total) }),
    used: t.int({ description: 'Licenses that jobs use.', resolve: ({ used }) => toInt(used) }),
    free: t.int({ description: 'Licenses that jobs can get.', resolve: ({ free }) => toInt(free) }),
    reserved: t.int({ description: 'Licenses of reservations.', resolve: ({ reserved }) => toInt(reserved) }),
    isRemote: t.exposeBoolean('isRemote', { description: 'Whether slurmdbd shares it among clusters.' }),
  }),
})

type Scheduler = NonNullable<SlurmCluster['scheduler']>

const SlurmSchedulerJobs = builder.objectRef<Scheduler['jobs']>('SlurmSchedulerJobs').implement({
  description: 'Jobs that slurmctld counted.',
  fields: (t) => {
    const since = (name: keyof Scheduler['jobs'], what: string) =>
      t.int({ description: what, resolve: (jobs) => toInt(jobs[name]) })
    return {
      submitted: since('submitted', 'Submitted since `since`.'),
      started: since('started', 'Started since `since`.'),
      completed: since('completed', 'Completed since `since`.'),
      canceled: since('canceled', 'Canceled since `since`.'),
      failed: since('failed', 'Failed since `since`.'),
      pending: since('pending', 'Pending now.'),
      running: since('running', 'Running now.'),
    }
  },
})

type Cycle = { lastCycle: number; maxCycle: number; meanCycle: number | null; queueLength: number }

const SlurmSchedulerCycle = builder.objectRef<Cycle>('SlurmSchedulerCycle').implement({
  description: 'Durations of the cycles of a scheduler.',
  fields: (t) => ({
    lastUs: t.int({ description: 'Duration of the last cycle in microseconds.', resolve: ({ lastCycle }) => toInt(lastCycle) }),
    maxUs: t.int({ description: 'Longest duration since `since` in microseconds.', resolve: ({ maxCycle }) => toInt(maxCycle) }),
    meanUs: t.int({
      nullable: true,
      description: 'Mean duration since `since` in microseconds; null before the first cycle.',
      resolve: ({ meanCycle }) => (meanCycle === null ? null : toInt(meanCycle)),
    }),
    queueLength: t.int({ description: 'Jobs that the last cycle considered.', resolve: ({ queueLength }) => toInt(queueLength) }),
  }),
})

export const SlurmScheduler = builder.objectRef<Scheduler>('SlurmScheduler').implement({
  description: 'Statistics of slurmctld, from `sdiag`.',
  fields: (t) => ({
    since: t.expose('since', { type: 'DateTime', nullable: true, description: 'Start of the counts.' }),
    serverThreads: t.int({
      description: 'Requests that slurmctld handles now.',
      resolve: ({ serverThreads }) => toInt(serverThreads),
    }),
    agentQueue: t.int({ description: 'Messages that wait to be sent to nodes.', resolve: ({ agentQueue }) => toInt(agentQueue) }),
    dbdAgentQueue: t.int({
      description: 'Messages that wait to be sent to slurmdbd.',
      resolve: ({ dbdAgentQueue }) => toInt(dbdAgentQueue),
    }),
    jobs: t.expose('jobs', { type: SlurmSchedulerJobs, description: 'Counts of jobs.' }),
    main: t.expose('main', { type: SlurmSchedulerCycle, description: 'Main scheduler.' }),
    backfill: t.expose('backfill', { type: SlurmSchedulerCycle, description: 'Backfill scheduler.' }),
  }),
})
