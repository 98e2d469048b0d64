import {
  type RunComparison as Comparison,
  compareWithPrevious,
  type FailureSignature as Failure,
  type MatrixCell,
  type MatrixTask,
  retryBlockedReason,
  runMatrix,
} from '@muster/core/runs'
import { foldHostlist } from '@muster/core/selection'
import { builder } from '../../../builder.ts'
import { HostResult } from '../enums.ts'
import { JobRun, runOf } from '../types.ts'

const JobRunMatrixCell = builder.objectRef<MatrixCell>('JobRunMatrixCell').implement({
  description: 'Hosts on which a task came to the same.',
  fields: (t) => ({
    result: t.expose('result', { type: HostResult, description: 'What it came to.' }),
    isIgnored: t.exposeBoolean('isIgnored', { description: 'It failed, and the play went on regardless.' }),
    message: t.exposeString('message', {
      nullable: true,
      description:
        "Of a failure: the message of the first of these hosts. The others' differ at most in numbers, names and the like.",
    }),
    count: t.int({ description: 'How many hosts.', resolve: ({ hosts }) => hosts.length }),
    hostlist: t.string({ description: 'Which hosts, folded: `gpu[001-064]`.', resolve: ({ hosts }) => foldHostlist(hosts) }),
    maxDurationMs: t.exposeInt('maxDurationMs', { nullable: true, description: 'The longest it took on one of them, in ms.' }),
  }),
})

const JobRunMatrixTask = builder.objectRef<MatrixTask>('JobRunMatrixTask').implement({
  description: 'What one task of a run came to on all hosts.',
  fields: (t) => ({
    play: t.exposeString('play', { nullable: true, description: 'Name of the play.' }),
    task: t.exposeString('task', { nullable: true, description: 'Name of the task.' }),
    action: t.exposeString('action', { nullable: true, description: 'The module of the task.' }),
    cells: t.expose('cells', { type: [JobRunMatrixCell], description: 'Its hosts by result.' }),
  }),
})

const RunComparison = builder.objectRef<Comparison>('RunComparison').implement({
  description: 'How a run went beside the one before it. Hosts are folded to hostlists.',
  fields: (t) => ({
    previous: t.field({
      type: JobRun,
      description: 'The run before it.',
      resolve: ({ previousId }) => runOf(previousId),
    }),
    newlyFailing: t.string({
      description: 'Hosts that failed or were unreachable now, and not before.',
      resolve: ({ newlyFailing }) => foldHostlist(newlyFailing),
    }),
    fixed: t.string({
      description: 'Hosts that failed or were unreachable before, and not now.',
      resolve: ({ fixed }) => foldHostlist(fixed),
    }),
    stillFailing: t.string({
      description: 'Hosts that failed or were unreachable both times.',
      resolve: ({ stillFailing }) => foldHostlist(stillFailing),
    }),
    added: t.string({ description: 'Hosts of this run alone.', resolve: ({ added }) => foldHostlist(added) }),
    missing: t.string({ description: 'Hosts of the run before alone.', resolve: ({ missing }) => foldHostlist(missing) }),
    changedBefore: t.exposeInt('changedBefore', { description: 'On how many hosts of both the run before changed something.' }),
    changedNow: t.exposeInt('changedNow', { description: 'On how many of them this run changed something.' }),
    previousDurationMs: t.exposeInt('previousDurationMs', { description: 'How long the run before took, in ms.' }),
    durationMs: t.exposeInt('durationMs', { nullable: true, description: 'How long this run took so far, in ms.' }),
  }),
})

builder.drizzleObjectFields(JobRun, (t) => ({
  matrix: t.field({
    type: [JobRunMatrixTask],
    description: 'What each task came to, in the order in which tasks began, hosts with equal results merged.',
    select: { columns: { id: true } },
    resolve: (run, _args, { ctx }) => runMatrix(ctx, run.id),
  }),
  compareWithPrevious: t.field({
    type: RunComparison,
    nullable: true,
    description:
      'It beside the last finished run of its template with the same limit, else the last one that shares a host with it; null: there is none.',
    select: { columns: { id: true, templateId: true, limit: true, startedAt: true, finishedAt: true } },
    resolve: (run, _args, { ctx }) => compareWithPrevious(ctx, run),
  }),
  parent: t.relation('parent', { nullable: true, description: 'The run that it tries again.' }),
  retries: t.relation('retries', {
    description: 'Runs that try it again, the oldest first.',
    query: { orderBy: { id: 'asc' } },
  }),
  attempt: t.exposeInt('attempt', { description: '1, and one more with each retry of a retry.' }),
  retryBlockedReason: t.string({
    nullable: true,
    description: 'Why the caller may not try it again where it did not end well; null: allowed.',
    select: { columns: { status: true, finishedAt: true, hostsOk: true, hostsTotal: true } },
    resolve: (run, _args, { ctx }) => retryBlockedReason(ctx.actor, run),
  }),
}))

export const FailureSignature = builder.objectRef<Failure>('FailureSignature').implement({
  description: 'A failure wherever it was met: messages that differ at most in numbers, names of hosts, paths and the like.',
  fields: (t) => ({
    signature: t.exposeString('signature', { description: 'What all of them have in common, as a hash.' }),
    message: t.exposeString('message', { description: 'The newest of the messages.' }),
    count: t.exposeInt('count', { description: 'How often it was met: a host of a run counts once.' }),
    runs: t.exposeInt('runs', { description: 'In how many runs.' }),
    hostCount: t.int({ description: 'On how many hosts.', resolve: ({ hosts }) => hosts.length }),
    hostlist: t.string({ description: 'On which hosts, folded: `gpu[001-064]`.', resolve: ({ hosts }) => foldHostlist(hosts) }),
    firstAt: t.expose('firstAt', { type: 'DateTime', description: 'When the first of these runs was asked for.' }),
    lastAt: t.expose('lastAt', { type: 'DateTime', description: 'When the last of these runs was asked for.' }),
    lastRun: t.field({
      type: JobRun,
      description: 'The last of these runs.',
      resolve: ({ lastRunId }) => runOf(lastRunId),
    }),
  }),
})
