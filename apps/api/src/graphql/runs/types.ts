import { cancelBlockedReason, type JobRun as Row } from '@muster/core/runs'
import { type ResolveCursorConnectionArgs, resolveCursorConnection } from '@pothos/plugin-relay'
import { builder } from '../../builder.ts'
import { actorField, nullableActorField } from '../access/people.ts'
import { BecomeMethod } from '../credentials/enums.ts'
import { ComputeNode } from '../nodes/types.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { PlaybookSource } from '../templates/enums.ts'
import { becomeMethod } from '../templates/types.ts'
import { HostResult, JobRunStatus } from './enums.ts'
import { countEvents, eventPage } from './events/pages.ts'
import { eventConnection, JobRunEvent } from './events/types.ts'
import { HostSet, HostSummary, hostConnection, hostSummaries, JobRunHostCounts } from './hosts.ts'

type GitSource = Pick<Row, 'gitUrl' | 'gitRef' | 'gitCommit'>

const JobRunGitSource = builder.objectRef<GitSource>('JobRunGitSource').implement({
  description: 'The git repository from which a run takes its playbook.',
  fields: (t) => ({
    url: t.string({ description: 'URL of the repository.', resolve: ({ gitUrl }) => gitUrl! }),
    ref: t.string({ description: 'Branch, tag or commit as set in the template.', resolve: ({ gitRef }) => gitRef! }),
    commit: t.exposeString('gitCommit', {
      nullable: true,
      description: 'The commit that the run uses; null until a worker has fetched it.',
    }),
  }),
})

export const JobRun = builder.drizzleNode('jobRuns', {
  name: 'JobRun',
  description: 'One execution of the playbook of a job template.',
  select: { columns: { id: true } },
  id: { column: (run) => run.id },
  fields: (t) => ({
    number: t.exposeInt('number', { description: 'Number of the run in the tenant, from 1. Numbers are never reused.' }),
    template: t.relation('template', { description: 'The template with its current settings.' }),
    templateName: t.exposeString('templateName', { description: 'Name of the template when the run was started.' }),
    templateVersion: t.exposeInt('templateVersion', {
      nullable: true,
      description: 'Version of the template that the run uses; null when the template had no versions yet.',
    }),
    playbookPath: t.exposeString('playbookPath', { description: 'Path of the playbook, relative to the root of its source.' }),
    source: t.expose('source', { type: PlaybookSource, description: 'Where the playbook comes from.' }),
    bundle: t.relation('bundle', { nullable: true, description: 'The bundle of the playbook; null for other sources.' }),
    git: t.field({
      type: JobRunGitSource,
      nullable: true,
      description: 'The git repository of the playbook; null for other sources.',
      select: { columns: { gitUrl: true, gitRef: true, gitCommit: true } },
      resolve: (run) => (run.gitUrl ? run : null),
    }),
    status: t.expose('status', { type: JobRunStatus, description: 'Status.' }),
    statusReason: t.string({
      nullable: true,
      description: 'What went wrong and the next step; null when there is nothing to report.',
      select: { columns: { error: true } },
      resolve: (run) => run.error,
    }),
    limit: t.exposeString('limit', {
      nullable: true,
      description: 'Selector of the nodes as entered; null when the nodes were given by ID.',
    }),
    extraVars: t.expose('extraVars', {
      type: 'JSON',
      description: 'Extra vars, including the defaults of the template and without secret ones: an object.',
    }),
    hasSecretVars: t.boolean({
      description: 'Whether the run has secret extra vars. Their values are never returned.',
      select: { columns: { secretsId: true } },
      resolve: (run) => run.secretsId !== null,
    }),
    become: t.exposeBoolean('become', { description: 'Whether tasks run as another user.' }),
    becomeMethod: t.field({
      type: BecomeMethod,
      description: 'Privilege escalation method. A become credential of a node overrides it.',
      select: { columns: { becomeMethod: true } },
      resolve: (run) => becomeMethod(run.becomeMethod),
    }),
    becomeUser: t.exposeString('becomeUser', {
      description: 'User that tasks run as. Where it is root, a become credential of a node overrides it.',
    }),
    forks: t.exposeInt('forks', { description: 'Number of hosts to work on at once.' }),
    timeoutSeconds: t.exposeInt('timeoutSeconds', { description: 'The run is stopped when it takes longer, in seconds.' }),
    serial: t.exposeString('serial', {
      nullable: true,
      description: 'Batch size of hosts: `5`, `30%` or several such as `1,5,30%`; null: as set in the playbook.',
    }),
    maxFailPercentage: t.exposeInt('maxFailPercentage', {
      nullable: true,
      description:
        'The play is aborted when more than this percentage of the hosts of a batch failed; null: as set in the playbook.',
    }),
    jobTags: t.exposeStringList('jobTags', { description: 'Only tasks with one of these tags run; empty: all. At most 50.' }),
    skipTags: t.exposeStringList('skipTags', { description: 'Tasks with one of these tags are skipped. At most 50.' }),
    isReadOnly: t.exposeBoolean('isReadOnly', {
      description: 'Whether the run changes nothing on nodes, so that it neither locks nodes nor waits for locks.',
    }),
    checkMode: t.exposeBoolean('checkMode', { description: 'Whether the run only reports what would change.' }),
    diffMode: t.exposeBoolean('diffMode', { description: 'Whether the log shows the changes in files.' }),
    verbosity: t.exposeInt('verbosity', { description: 'Verbosity of Ansible, 0 to 4.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why the run was started; null when no reason was given.' }),
    createdBy: t.field(actorField('created', 'Actor that started the run.')),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the run was created.' }),
    waitingSince: t.expose('waitingSince', {
      type: 'DateTime',
      nullable: true,
      description:
        'Since when the run waits for locks of its nodes (see `waitingFor`) or for the queue of the tenant; null when it waits for neither.',
    }),
    startedAt: t.expose('startedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a worker claimed the run; null before.',
    }),
    ansibleStartedAt: t.expose('ansibleStartedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When ansible-playbook was started; null before.',
    }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'When the run ended; null before.' }),
    cancelRequestedAt: t.expose('cancelRequestedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When cancellation was requested; null when it was not.',
    }),
    cancelRequestedBy: t.field(
      nullableActorField('cancelRequested', 'Actor that requested cancellation; null when cancellation was not requested.'),
    ),
    durationMs: t.int({
      nullable: true,
      description: 'Time from the start to the end, or until now, in milliseconds; null before the start.',
      select: { columns: { startedAt: true, finishedAt: true } },
      resolve: ({ startedAt, finishedAt }) => (startedAt ? (finishedAt ?? new Date()).getTime() - startedAt.getTime() : null),
    }),
    exitCode: t.exposeInt('exitCode', {
      nullable: true,
      description: 'Exit code of ansible-playbook; null when it did not exit.',
    }),
    lastSeq: t.expose('lastSeq', { type: 'BigInt', description: 'Seq of the newest event; 0 without events.' }),
    lineCount: t.field({
      type: 'BigInt',
      description: 'Number of lines of the log.',
      select: { columns: { lastLine: true } },
      resolve: (run) => run.lastLine,
    }),
    interruptedHosts: t.field({
      type: HostSet,
      description: 'Hosts on which a task was running when the run was canceled, timed out or lost its worker.',
      select: { columns: { interruptedHosts: true } },
      resolve: (run) => run.interruptedHosts,
    }),
    hostCounts: t.field({
      type: JobRunHostCounts,
      description: 'Number of hosts.',
      select: { columns: { hostsTotal: true, hostsOk: true, hostsFailed: true, hostsUnreachable: true, hostsOffline: true } },
      resolve: (run) => run,
    }),
    hosts: t.relatedConnection(
      'hosts',
      {
        description: 'Hosts, ordered by name.',
        args: { result: t.arg({ type: [HostResult], description: 'Only hosts with one of these results; at most 500.' }) },
        totalCount: true,
        query: ({ result }) => ({ where: result ? { result: { in: result } } : {}, orderBy: { name: 'asc' } }),
        ...PAGED,
      },
      ...hostConnection,
    ),
    hostSummary: t.field({
      type: [HostSummary],
      description: 'Hosts grouped by result. At most 10, one per result.',
      select: { columns: { id: true } },
      resolve: async (run, _args, context) => (await hostSummaries(context, run.id)) ?? [],
    }),
    events: t.connection(
      {
        type: JobRunEvent,
        description:
          'Events of the log in order. The cursor of an event is its `seq`. A page ends early when its events have more than 1 MB. Use the subscription `jobRunEvents` to follow the log.',
        args: { host: t.arg.string({ description: 'Only events of the host with this name.' }) },
        select: { columns: { id: true } },
        ...PAGED,
        resolve: async (run, { host, ...args }, context) => {
          let isCut = false
          const page = await resolveCursorConnection(
            { args, maxSize: PAGED.maxSize(args), defaultSize: PAGED.defaultSize, toCursor: ({ seq }) => String(seq) },
            async ({ after, before, limit, inverted }: ResolveCursorConnectionArgs) => {
              const found = await eventPage(context, run.id, { after, before, limit, inverted, host: host ?? null })
              isCut = found.isCut
              return found.events
            },
          )
          const pageInfo = isCut ? { ...page.pageInfo, [args.last ? 'hasPreviousPage' : 'hasNextPage']: true } : page.pageInfo
          return { ...page, pageInfo, totalCount: () => countEvents(context, run.id, host ?? null) }
        },
      },
      ...eventConnection,
    ),
    cancelBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot cancel the run; null when allowed.',
      select: { columns: { status: true, finishedAt: true } },
      resolve: (run, _args, { ctx }) => cancelBlockedReason(ctx.actor, run),
    }),
  }),
})

/** The run with this ID, for fields of lists: runs are loaded in one statement. The ID must belong to the tenant. */
export const runOf = (id: string) => ({ id }) as typeof JobRun.$inferType

export const runConnection = connectionTypes(JobRun, 'JobRun', 'runs')

builder.drizzleObjectFields(ComputeNode, (t) => ({
  runs: t.relatedConnection(
    'runs',
    {
      description: 'Runs that include the node, newest first.',
      totalCount: true,
      query: { orderBy: { id: 'desc' } },
      ...PAGED,
    },
    ...runConnection,
  ),
}))
