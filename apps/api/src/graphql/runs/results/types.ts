import {
  type RunComparison as Comparison,
  compareWithPrevious,
  type FailureSignature as Failure,
  type MatrixCell,
  type MatrixTask,
  retryBlockedReason,
  runMatrices,
} from '@muster/core/runs'
import { foldHostlist } from '@muster/core/selection'
import { resolveArrayConnection } from '@pothos/plugin-relay'
import { builder } from '../../../builder.ts'
import { connectionTypes, PAGED } from '../../shared/connections.ts'
import { loader } from '../../shared/loaders.ts'
import { HostResult } from '../enums.ts'
import { HostSet } from '../hosts.ts'
import { JobRun, runOf } from '../types.ts'

const matrices = loader(({ ctx }, ids) => runMatrices(ctx, [...ids]))
const comparisons = loader(({ ctx }, ids) => compareWithPrevious(ctx, [...ids]))

const JobRunMatrixCell = builder.objectRef<MatrixCell>('JobRunMatrixCell').implement({
  description: 'Hosts with the same result of a task.',
  fields: (t) => ({
    result: t.expose('result', { type: HostResult, description: 'The result.' }),
    isIgnored: t.exposeBoolean('isIgnored', { description: 'Whether the task failed and its failure was ignored.' }),
    message: t.exposeString('message', {
      nullable: true,
      description:
        'Message of the first host with a failure; messages of the other hosts differ only in numbers and names. Null for other results.',
    }),
    count: t.int({ description: 'Number of hosts.', resolve: ({ hosts }) => hosts.length }),
    hostlist: t.string({ description: 'Hostlist of the hosts: `gpu[001-064]`.', resolve: ({ hosts }) => foldHostlist(hosts) }),
    maxDurationMs: t.exposeInt('maxDurationMs', {
      nullable: true,
      description: 'Longest duration on one of the hosts in milliseconds; null when it was not measured.',
    }),
  }),
})

const JobRunMatrixTask = builder.objectRef<MatrixTask>('JobRunMatrixTask').implement({
  description: 'Results of one task of a run.',
  fields: (t) => ({
    play: t.exposeString('play', { nullable: true, description: 'Name of the play.' }),
    task: t.exposeString('task', { nullable: true, description: 'Name of the task.' }),
    action: t.exposeString('action', { nullable: true, description: 'Module of the task.' }),
    cells: t.expose('cells', {
      type: [JobRunMatrixCell],
      description: 'Hosts grouped by result and, for failures, by message. At most as many as the run has hosts.',
    }),
  }),
})

const matrixConnection = connectionTypes(JobRunMatrixTask, 'JobRunMatrixTask', 'tasks of a run')

const RunComparison = builder.objectRef<Comparison>('RunComparison').implement({
  description: 'Comparison of a run with the previous one.',
  fields: (t) => ({
    previous: t.field({
      type: JobRun,
      description: 'The previous run.',
      resolve: ({ previousId }) => runOf(previousId),
    }),
    newlyFailing: t.expose('newlyFailing', {
      type: HostSet,
      description: 'Hosts that failed or were unreachable in this run only.',
    }),
    fixed: t.expose('fixed', { type: HostSet, description: 'Hosts that failed or were unreachable in the previous run only.' }),
    stillFailing: t.expose('stillFailing', { type: HostSet, description: 'Hosts that failed or were unreachable in both runs.' }),
    added: t.expose('added', { type: HostSet, description: 'Hosts of this run only.' }),
    missing: t.expose('missing', { type: HostSet, description: 'Hosts of the previous run only.' }),
    changedBefore: t.exposeInt('changedBefore', { description: 'Number of common hosts that the previous run changed.' }),
    changedNow: t.exposeInt('changedNow', { description: 'Number of common hosts that this run changed.' }),
  }),
})

builder.drizzleObjectFields(JobRun, (t) => ({
  matrix: t.connection(
    {
      type: JobRunMatrixTask,
      description: 'Results per task, in the order in which tasks started.',
      select: { columns: { id: true } },
      ...PAGED,
      resolve: async (run, args, context) => {
        const tasks = (await matrices(context, run.id)) ?? []
        const page = resolveArrayConnection({ args, maxSize: PAGED.maxSize(args), defaultSize: PAGED.defaultSize }, tasks)
        return { ...page, totalCount: tasks.length }
      },
    },
    ...matrixConnection,
  ),
  compareWithPrevious: t.field({
    type: RunComparison,
    nullable: true,
    description:
      'Comparison with the last finished run of the template with the same limit, else with the last one that shares a host; null when there is none.',
    select: { columns: { id: true } },
    resolve: async (run, _args, context) => (await comparisons(context, run.id)) ?? null,
  }),
  parent: t.relation('parent', { nullable: true, description: 'The run that this run retries; null when it is not a retry.' }),
  retries: t.relation('retries', {
    description: 'Retries of the run, oldest first. At most 100.',
    query: { orderBy: { id: 'asc' }, limit: 100 },
  }),
  attempt: t.exposeInt('attempt', { description: 'Attempt number, from 1.' }),
  retryBlockedReason: t.string({
    nullable: true,
    description: 'Why the caller cannot retry the run; null when allowed.',
    select: { columns: { status: true, finishedAt: true, hostsOk: true, hostsTotal: true } },
    resolve: (run, _args, { ctx }) => retryBlockedReason(ctx.actor, run),
  }),
}))

export const FailureSignature = builder.objectRef<Failure>('FailureSignature').implement({
  description: 'A failure, grouped over hosts and runs: its messages differ only in numbers, host names and paths.',
  fields: (t) => ({
    signature: t.exposeString('signature', { description: 'Hash of what the messages have in common.' }),
    message: t.exposeString('message', { description: 'The newest message.' }),
    count: t.exposeInt('count', { description: 'Number of occurrences; each host of a run counts once.' }),
    runCount: t.exposeInt('runs', { description: 'Number of runs.' }),
    hostCount: t.int({ description: 'Number of hosts.', resolve: ({ hosts }) => hosts.length }),
    hostlist: t.string({ description: 'Hostlist of the hosts: `gpu[001-064]`.', resolve: ({ hosts }) => foldHostlist(hosts) }),
    firstSeenAt: t.expose('firstSeenAt', { type: 'DateTime', description: 'When the first of the runs was created.' }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', description: 'When the last of the runs was created.' }),
    lastRun: t.field({
      type: JobRun,
      description: 'The last of the runs.',
      resolve: ({ lastRunId }) => runOf(lastRunId),
    }),
  }),
})

export const failureConnection = connectionTypes(FailureSignature, 'FailureSignature', 'failures')
