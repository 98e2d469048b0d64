import { schema } from '@muster/core/registry'
import { cancelBlockedReason } from '@muster/core/runs'
import { and, eq, gt } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { LimitError } from '../../limits.ts'
import { BecomeMethod } from '../credentials/enums.ts'
import { ComputeNode } from '../nodes/types.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { PlaybookSource } from '../templates/enums.ts'
import { becomeMethod } from '../templates/types.ts'
import { JobRunStatus } from './enums.ts'
import { JobRunEvent } from './events/types.ts'
import { HostSummary, hostSummaries, JobRunHost } from './hosts.ts'

const { jobRunEvents } = schema

export const JobRun = builder.drizzleNode('jobRuns', {
  name: 'JobRun',
  description: "One execution of a template's playbook.",
  select: { columns: { id: true } },
  id: { column: (run) => run.id },
  fields: (t) => ({
    template: t.relation('template', { description: 'The template as it is now.' }),
    templateName: t.exposeString('templateName', { description: 'Its name when the run was started.' }),
    playbookPath: t.exposeString('playbookPath', {
      description: 'The playbook that is run, relative to the root of its source.',
    }),
    status: t.expose('status', { type: JobRunStatus, description: 'Where it stands.' }),
    statusReason: t.string({
      nullable: true,
      description: 'Why it ended as it did, and what to do next, when something went wrong.',
      select: { columns: { error: true } },
      resolve: (run) => run.error,
    }),
    limit: t.exposeString('limit', { nullable: true, description: 'Where to run, as typed; null when nodes were named by id.' }),
    extraVars: t.expose('extraVars', { type: 'JSON', description: 'Its extra vars, those of the template included.' }),
    become: t.exposeBoolean('become', { description: 'Whether its tasks run as another user.' }),
    becomeMethod: t.field({
      type: BecomeMethod,
      description: 'How they become that user; on a node whose become credential says SU, by su.',
      select: { columns: { becomeMethod: true } },
      resolve: (run) => becomeMethod(run.becomeMethod),
    }),
    becomeUser: t.exposeString('becomeUser', {
      description: 'The user they become; where that is root, the become credential of a node may name another.',
    }),
    forks: t.exposeInt('forks', { description: 'How many hosts are worked on at once.' }),
    timeoutSeconds: t.exposeInt('timeoutSeconds', { description: 'When it takes longer it is stopped, in s.' }),
    serial: t.exposeString('serial', {
      nullable: true,
      description: 'Hosts at a time: `5`, `30%` or several such as `1,5,30%`; null: what the playbook says.',
    }),
    maxFailPercentage: t.exposeInt('maxFailPercentage', {
      nullable: true,
      description:
        'The play ends when more than this share of the hosts of a batch has failed, in %; null: what the playbook says.',
    }),
    jobTags: t.exposeStringList('jobTags', { description: 'Only tasks with one of these tags; empty: all.' }),
    skipTags: t.exposeStringList('skipTags', { description: 'No tasks with one of these tags.' }),
    isReadOnly: t.exposeBoolean('isReadOnly', {
      description: 'It changes nothing on its nodes, so it neither locks them nor waits for others.',
    }),
    checkMode: t.exposeBoolean('checkMode', { description: 'Only says what it would change.' }),
    diffMode: t.exposeBoolean('diffMode', { description: 'Shows what it changes in files.' }),
    verbosity: t.exposeInt('verbosity', { description: "Ansible's verbosity, 0 to 4." }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why it was started, in the words of who did.' }),
    createdByName: t.exposeString('createdByName', { description: 'Who started it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was asked for.' }),
    waitingSince: t.expose('waitingSince', {
      type: 'DateTime',
      nullable: true,
      description:
        'Since when it is set aside: it waits for other runs on its nodes (see `waitingFor`) or for the turn of its tenant.',
    }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'When a worker took it.' }),
    ansibleStartedAt: t.expose('ansibleStartedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When ansible-playbook was started.',
    }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'When it was over.' }),
    cancelRequestedAt: t.expose('cancelRequestedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When somebody asked it to stop.',
    }),
    cancelRequestedByName: t.exposeString('cancelRequestedByName', { nullable: true, description: 'Who asked it to stop.' }),
    durationMs: t.int({
      nullable: true,
      description: 'From the start to the end or until now, in ms; null before the start.',
      select: { columns: { startedAt: true, finishedAt: true } },
      resolve: ({ startedAt, finishedAt }) => (startedAt ? (finishedAt ?? new Date()).getTime() - startedAt.getTime() : null),
    }),
    exitCode: t.exposeInt('exitCode', { nullable: true, description: 'Exit code of ansible-playbook.' }),
    lastSeq: t.expose('lastSeq', { type: 'BigInt', description: 'The highest seq of its events so far; they are 1 to this.' }),
    lineCount: t.field({
      type: 'BigInt',
      description: 'How many lines its log has so far.',
      select: { columns: { lastLine: true } },
      resolve: (run) => run.lastLine,
    }),
    interruptedHosts: t.exposeStringList('interruptedHosts', {
      description: 'Hosts that were in the middle of a task when it was canceled, timed out or lost its worker.',
    }),
    hostsTotal: t.exposeInt('hostsTotal', { description: 'On how many hosts it runs.' }),
    hostsOk: t.exposeInt('hostsOk', { description: 'On how many of them it ended well.' }),
    hostsFailed: t.exposeInt('hostsFailed', { description: 'On how many of them it failed.' }),
    hostsUnreachable: t.exposeInt('hostsUnreachable', { description: 'How many of them could not be reached.' }),
    hosts: t.relation('hosts', { type: JobRunHost, description: 'Its hosts by name.', query: { orderBy: { name: 'asc' } } }),
    hostSummary: t.field({
      type: [HostSummary],
      description: 'Its hosts by result.',
      select: { columns: { id: true } },
      resolve: async (run, _args, context) => (await hostSummaries(context, run.id)) ?? [],
    }),
    events: t.field({
      type: [JobRunEvent],
      description: 'A part of its log, in order. To follow it live use the subscription jobRunEvents.',
      args: {
        first: t.arg.int({ defaultValue: 500, description: 'At most this many events, at most 5000.' }),
        after: t.arg({ type: 'BigInt', defaultValue: 0, description: 'Only events with a higher seq.' }),
        host: t.arg.string({ description: 'Only events of this host.' }),
      },
      select: { columns: { id: true } },
      resolve: (run, { first, after, host }, { ctx }) => {
        const limit = first ?? 500
        if (limit > 5000) throw new LimitError('PAGE', 5000, limit, 'Page with `after`.')
        return ctx.db
          .select()
          .from(jobRunEvents)
          .where(
            and(
              eq(jobRunEvents.jobRunId, run.id),
              gt(jobRunEvents.seq, after ?? 0),
              host ? eq(jobRunEvents.host, host) : undefined,
            ),
          )
          .orderBy(jobRunEvents.seq)
          .limit(Math.max(0, limit))
      },
    }),
    cancelBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not cancel it; null: allowed.',
      select: { columns: { status: true, finishedAt: true } },
      resolve: (run, _args, { ctx }) => cancelBlockedReason(ctx.actor, run),
    }),
  }),
})

/** The run with this id, for a field of which many may be asked for at once: they are read together. The id must be the tenant's. */
export const runOf = (id: string) => ({ id }) as typeof JobRun.$inferType

export const runConnection = connectionTypes(JobRun, 'JobRun', 'runs')

builder.drizzleObjectFields(ComputeNode, (t) => ({
  runs: t.relatedConnection(
    'runs',
    {
      description: 'Runs on it, the newest first.',
      totalCount: true,
      query: { orderBy: { id: 'desc' } },
      ...PAGED,
    },
    ...runConnection,
  ),
}))

builder.drizzleObjectFields(JobRun, (t) => ({
  templateVersion: t.exposeInt('templateVersion', {
    nullable: true,
    description: "The template's version that it uses; null for runs from before versions were kept.",
  }),
  source: t.expose('source', { type: PlaybookSource, description: 'Where its playbook comes from.' }),
  bundle: t.relation('bundle', { nullable: true, description: 'The bundle that it uses, when its playbook comes from one.' }),
  gitUrl: t.exposeString('gitUrl', { nullable: true, description: 'The repository, when its playbook comes from one.' }),
  gitRef: t.exposeString('gitRef', { nullable: true, description: 'The branch, tag or commit that was asked for.' }),
  gitCommit: t.exposeString('gitCommit', {
    nullable: true,
    description: 'The commit that it really uses; null until a worker has fetched it.',
  }),
  hasSecretVars: t.boolean({
    description: 'Whether it was given secret extra vars, which nobody is shown.',
    select: { columns: { secretsId: true } },
    resolve: (run) => run.secretsId !== null,
  }),
}))
