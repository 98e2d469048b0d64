import { sql } from 'drizzle-orm'
import {
  type AnyPgColumn,
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  primaryKey,
  smallint,
  snakeCase,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { tenants, userRef } from '../access/tables.ts'
import { credentials } from '../credentials/tables.ts'
import { at, createdAt, id } from '../kernel/db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'
import { jobTemplates, type PlaybookSource, playbookBundles, type Vars } from '../templates/tables.ts'

export const JOB_RUN_STATUSES = [
  'PENDING',
  'RUNNING',
  'CANCELING',
  'SUCCEEDED',
  'PARTIAL',
  'FAILED',
  'CANCELED',
  'TIMED_OUT',
  'ERROR',
] as const

export type JobRunStatus = (typeof JOB_RUN_STATUSES)[number]

/** Why a run is over: its process ended by itself, or we ended it, or it could not run, or its worker was lost. */
export type EndCause = 'exit' | 'cancel' | 'timeout' | 'error' | 'lost'

/** Secret extra vars, sealed, by name. Rows of their own, so that a run that repeats another one can have the same. */
export const runSecrets = snakeCase.table('run_secrets', {
  id: id(),
  tenantId: uuid()
    .notNull()
    .references(() => tenants.id),
  /** Of the template that they were given for. */
  name: text().notNull(),
  encrypted: jsonb().$type<Record<string, string>>().notNull(),
  createdAt: createdAt(),
})

export const jobRuns = snakeCase.table(
  'job_runs',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    /** Short name of the run for people: 1, 2, 3, … within the tenant, never reused. */
    number: integer().notNull(),
    templateId: uuid()
      .notNull()
      .references(() => jobTemplates.id),
    // Copied from the template at the start, so that a later edit does not change what this run was.
    templateName: text().notNull(),
    /** Null for runs from before versions were kept. */
    templateVersion: integer(),
    source: text().$type<PlaybookSource>().notNull().default('shipped'),
    bundleId: uuid().references(() => playbookBundles.id),
    gitUrl: text(),
    gitRef: text(),
    gitCredentialId: uuid().references(() => credentials.id, { onDelete: 'set null' }),
    /** The commit that it really uses, written when a worker has fetched it. */
    gitCommit: text(),
    playbookPath: text().notNull(),
    become: boolean().notNull(),
    becomeMethod: text().notNull(),
    becomeUser: text().notNull(),
    timeoutSeconds: integer().notNull(),
    forks: integer().notNull(),
    checkMode: boolean().notNull().default(false),
    diffMode: boolean().notNull().default(false),
    isIdempotent: boolean().notNull().default(false),
    verbosity: smallint().notNull().default(0),
    /** What the caller asked for, as typed: a hostlist, group or tag expression. Null when nodes were named by id. */
    limit: text(),
    extraVars: jsonb().$type<Vars>().notNull().default(sql`'{}'::jsonb`),
    /** Extra vars that the template's input schema marks as secret; they do not stand in `extraVars`. */
    secretsId: uuid().references(() => runSecrets.id, { onDelete: 'set null' }),
    /** Hosts at a time, as the template's: `5`, `30%`, `1,5,30%`. Null: what the playbook says. */
    serial: text(),
    maxFailPercentage: smallint(),
    jobTags: text().array().notNull().default(sql`'{}'::text[]`),
    skipTags: text().array().notNull().default(sql`'{}'::text[]`),
    /** Of a read-only template, or in check mode: it takes no locks. */
    isReadOnly: boolean().notNull().default(false),
    /** The run that this one tries again, and the how-manieth attempt it is. */
    parentRunId: uuid().references((): AnyPgColumn => jobRuns.id, { onDelete: 'set null' }),
    attempt: integer().notNull().default(1),
    reason: text(),
    createdById: userRef(),
    createdByName: text().notNull(),

    createdAt: createdAt(),
    startedAt: at(),
    finishedAt: at(),
    cancelRequestedAt: at(),
    cancelRequestedById: userRef(),
    cancelRequestedByName: text(),
    /** When ansible-playbook was exec'd; `started_at` is the claim. */
    ansibleStartedAt: at(),
    endCause: text().$type<EndCause>(),
    exitCode: integer(),
    /** For the operator: what went wrong, and what to do next. */
    error: text(),
    /** Hosts that were in the middle of a task when the run was canceled, timed out or lost its worker. */
    interruptedHosts: text().array().notNull().default(sql`'{}'::text[]`),

    /** Since when it is out of the queue because others are before it on its nodes, or its tenant may begin none. Null: it is in the queue, or begun. */
    waitingSince: at(),

    // Fencing: a worker writes only with the token of its own claim.
    claimToken: uuid(),
    claimedBy: text(),
    /** Last sign of life: of its worker, or of being put into the queue. */
    workerSeenAt: at(),
    /** When it was put back into the queue because its worker was lost; happens once at most. */
    retriedAt: at(),

    /** When its log was removed because it was older than its tenant keeps logs. */
    logRemovedAt: at(),
    /** High-water marks of job_run_events. */
    lastSeq: bigint({ mode: 'number' }).notNull().default(0),
    lastLine: bigint({ mode: 'number' }).notNull().default(0),
    hostsTotal: integer().notNull().default(0),
    hostsOk: integer().notNull().default(0),
    hostsFailed: integer().notNull().default(0),
    hostsUnreachable: integer().notNull().default(0),
    status: text()
      .$type<JobRunStatus>()
      .notNull()
      .generatedAlwaysAs(
        sql`case
          when finished_at is null then case
            when cancel_requested_at is not null then 'CANCELING'
            when started_at is null then 'PENDING' else 'RUNNING' end
          when end_cause = 'cancel' then 'CANCELED'
          when end_cause = 'timeout' then 'TIMED_OUT'
          when end_cause in ('error', 'lost') then 'ERROR'
          when exit_code = 0 and hosts_failed + hosts_unreachable = 0 then 'SUCCEEDED'
          when exit_code in (0, 2, 4) and hosts_ok > 0 and hosts_failed + hosts_unreachable > 0 then 'PARTIAL'
          when hosts_ok + hosts_failed + hosts_unreachable = 0 then 'ERROR'
          else 'FAILED' end`,
      ),
  },
  (t) => [
    index().on(t.tenantId, t.id),
    index().on(t.templateId),
    index().on(t.workerSeenAt).where(sql`finished_at is null`),
    index().on(t.waitingSince).where(sql`waiting_since is not null`),
    index('job_runs_queue_index')
      .on(t.tenantId, t.id)
      .where(sql`finished_at is null and started_at is null and waiting_since is null`),
    index('job_runs_begun_index').on(t.tenantId).where(sql`finished_at is null and started_at is not null`),
    index().on(t.tenantId, t.finishedAt),
    index().on(t.parentRunId),
    index().on(t.gitCredentialId).where(sql`git_credential_id is not null`),
    index().on(t.bundleId).where(sql`bundle_id is not null`),
    uniqueIndex().on(t.tenantId, t.number),
  ],
)

export type JobRun = typeof jobRuns.$inferSelect

export type HostResult =
  | 'PENDING'
  | 'RUNNING'
  | 'OK'
  | 'CHANGED'
  | 'FAILED'
  | 'UNREACHABLE'
  | 'SKIPPED'
  | 'INTERRUPTED'
  | 'NOT_RUN'

/** One host of a run, with Ansible's own figures for it. */
export const jobRunHosts = snakeCase.table(
  'job_run_hosts',
  {
    jobRunId: uuid()
      .notNull()
      .references(() => jobRuns.id, { onDelete: 'cascade' }),
    nodeId: uuid().references(() => computeNodes.id, { onDelete: 'set null' }),
    /** The node's name at that time: its name in the inventory and in the log. */
    name: text().notNull(),
    ok: integer().notNull().default(0),
    changed: integer().notNull().default(0),
    failed: integer().notNull().default(0),
    unreachable: integer().notNull().default(0),
    skipped: integer().notNull().default(0),
    rescued: integer().notNull().default(0),
    ignored: integer().notNull().default(0),
    result: text().$type<HostResult>().notNull().default('PENDING'),
    /** The task it is in, or was in when the run ended. */
    currentTask: text(),
    /** Since when it is in `currentTask`. */
    currentTaskAt: at(),
    /** The message of its first failure. */
    message: text(),
    /** The same for messages that differ only in numbers, paths, names of hosts and the like. Null without a message. */
    failureSignature: text(),
  },
  (t) => [
    primaryKey({ columns: [t.jobRunId, t.name] }),
    index().on(t.nodeId),
    index().on(t.failureSignature).where(sql`failure_signature is not null`),
  ],
)

export type JobRunHost = typeof jobRunHosts.$inferSelect

export const JOB_RUN_EVENT_KINDS = [
  'run_start',
  'play_start',
  'task_start',
  'host_start',
  'ok',
  'failed',
  'unreachable',
  'skipped',
  'item_ok',
  'item_failed',
  'item_skipped',
  'retry',
  'diff',
  'stats',
  'output',
  'notice',
  'run_end',
] as const

export type JobRunEventKind = (typeof JOB_RUN_EVENT_KINDS)[number]

/** What a log is made of, in order. Gap-free: `seq` of a run is 1..n. */
export const jobRunEvents = snakeCase.table(
  'job_run_events',
  {
    jobRunId: uuid()
      .notNull()
      .references(() => jobRuns.id, { onDelete: 'cascade' }),
    seq: bigint({ mode: 'number' }).notNull(),
    kind: text().$type<JobRunEventKind>().notNull(),
    host: text(),
    play: text(),
    task: text(),
    taskUuid: text(),
    action: text(),
    isChanged: boolean(),
    durationMs: integer(),
    /** Ansible's result as JSON, at most 64 KiB; longer ones are cut and carry `_muster_truncated`. */
    result: jsonb(),
    /** Lines as Ansible would have shown them, ANSI colours included, joined by \n, without a final \n. Null when the event shows nothing. */
    stdout: text(),
    /** Number of the first line of `stdout` in the whole log, from 1. */
    startLine: bigint({ mode: 'number' }).notNull(),
    lineCount: integer().notNull().default(0),
    createdAt: at().notNull(),
  },
  (t) => [primaryKey({ columns: [t.jobRunId, t.seq] })],
)

export type JobRunEvent = typeof jobRunEvents.$inferSelect

/** `log`: the whole log as text, stored before the run ends. `file`: what the playbook left in its artifact directory. */
export type ArtifactKind = 'log' | 'file'

/** Files that a run left, in the artifact store. The row stays when the file goes, and says since when. */
export const jobArtifacts = snakeCase.table(
  'job_artifacts',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    jobRunId: uuid()
      .notNull()
      .references(() => jobRuns.id, { onDelete: 'cascade' }),
    kind: text().$type<ArtifactKind>().notNull(),
    /** Relative to the artifact directory, with `/`. */
    path: text().notNull(),
    /** In bytes. */
    size: bigint({ mode: 'number' }).notNull(),
    sha256: text().notNull(),
    /** Which store has it, and under which key: `local` or `s3`. */
    store: text().$type<'local' | 's3'>().notNull(),
    key: text().notNull(),
    createdAt: createdAt(),
    /** When it was removed because it was older than its tenant keeps artifacts. */
    removedAt: at(),
  },
  (t) => [index().on(t.jobRunId), index().on(t.tenantId, t.createdAt).where(sql`removed_at is null`)],
)

export type JobArtifact = typeof jobArtifacts.$inferSelect
