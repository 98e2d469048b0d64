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
import type { SlurmRun, SlurmRunOptions } from './slurm/options.ts'

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

/** Why a run ended: its process exited, Muster stopped it, it could not start, or its worker was lost. */
export type EndCause = 'exit' | 'cancel' | 'timeout' | 'error' | 'lost'

/** Encrypted secret extra vars by name. Separate rows, so that a run and its retries can share them. */
export const runSecrets = snakeCase.table('run_secrets', {
  id: id(),
  tenantId: uuid()
    .notNull()
    .references(() => tenants.id),
  /** Name of the template that the values belong to. */
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
    /** Short run number for people: 1, 2, 3, … within the tenant, never reused. */
    number: integer().notNull(),
    templateId: uuid()
      .notNull()
      .references(() => jobTemplates.id),
    // Copied from the template at the start, so that a later edit does not change the run.
    templateName: text().notNull(),
    /** Null for runs from before templates had versions. */
    templateVersion: integer(),
    source: text().$type<PlaybookSource>().notNull().default('shipped'),
    bundleId: uuid().references(() => playbookBundles.id),
    gitUrl: text(),
    gitRef: text(),
    gitCredentialId: uuid().references(() => credentials.id, { onDelete: 'set null' }),
    /** The resolved commit; set when a worker has fetched it. */
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
    /** The limit as typed by the caller: a hostlist, group or tag expression. Null when the caller gave node IDs. */
    limit: text(),
    extraVars: jsonb().$type<Vars>().notNull().default(sql`'{}'::jsonb`),
    /** Extra vars that the template's input schema marks as secret; `extraVars` does not contain them. */
    secretsId: uuid().references(() => runSecrets.id, { onDelete: 'set null' }),
    /** Number or percentage of hosts per batch, copied from the template: `5`, `30%`, `1,5,30%`. Null: as in the playbook. */
    serial: text(),
    maxFailPercentage: smallint(),
    /** Set for a run over batches of Slurm nodes, which starts one run per batch and executes nothing itself. */
    slurm: jsonb().$type<SlurmRun>(),
    jobTags: text().array().notNull().default(sql`'{}'::text[]`),
    skipTags: text().array().notNull().default(sql`'{}'::text[]`),
    /** True for runs of a read-only template or in check mode. Such a run takes no locks. */
    isReadOnly: boolean().notNull().default(false),
    /** Whether it runs on nodes with an OFFLINE agent too. */
    includeOffline: boolean().notNull().default(false),
    /** Its nodes are in maintenance while it runs, because it may reboot them. */
    setsMaintenance: boolean().notNull().default(false),
    /** The run that this one retries, and the attempt number, from 1. */
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
    /** When ansible-playbook was executed; `started_at` is the time of the claim. */
    ansibleStartedAt: at(),
    endCause: text().$type<EndCause>(),
    exitCode: integer(),
    /** For the operator: what went wrong and what to do next. */
    error: text(),
    /** Hosts that were inside a task when the run was canceled, timed out or lost its worker. */
    interruptedHosts: text().array().notNull().default(sql`'{}'::text[]`),

    /**
     * When the run left the queue, because other runs hold its nodes or its tenant may start no run. Null: it is in the queue or
     * has started.
     */
    waitingSince: at(),

    // Fencing token. A worker writes only with the token of its own claim.
    claimToken: uuid(),
    claimedBy: text(),
    /** Last sign of life of the worker, or the time when the run was enqueued. */
    workerSeenAt: at(),
    /** When it was enqueued again because its worker was lost; happens at most once. */
    retriedAt: at(),

    /** When retention removed its log. */
    logRemovedAt: at(),
    /** High-water marks of job_run_events. */
    lastSeq: bigint({ mode: 'number' }).notNull().default(0),
    lastLine: bigint({ mode: 'number' }).notNull().default(0),
    hostsTotal: integer().notNull().default(0),
    hostsOk: integer().notNull().default(0),
    hostsFailed: integer().notNull().default(0),
    hostsUnreachable: integer().notNull().default(0),
    /** Skipped hosts: they are part of the total and have no other result. */
    hostsOffline: integer().notNull().default(0),
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
    index('job_runs_slurm_index').on(t.id).where(sql`slurm is not null and finished_at is null`),
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
  /** Skipped, because its agent was OFFLINE; set when the run is created. */
  | 'OFFLINE'

/** One host of a run, with Ansible's own figures for it. */
export const jobRunHosts = snakeCase.table(
  'job_run_hosts',
  {
    jobRunId: uuid()
      .notNull()
      .references(() => jobRuns.id, { onDelete: 'cascade' }),
    nodeId: uuid().references(() => computeNodes.id, { onDelete: 'set null' }),
    /** The node's name when the run was created. The inventory and the log use it. */
    name: text().notNull(),
    ok: integer().notNull().default(0),
    changed: integer().notNull().default(0),
    failed: integer().notNull().default(0),
    unreachable: integer().notNull().default(0),
    skipped: integer().notNull().default(0),
    rescued: integer().notNull().default(0),
    ignored: integer().notNull().default(0),
    result: text().$type<HostResult>().notNull().default('PENDING'),
    /** The current task, or the last one when the run ended. */
    currentTask: text(),
    /** When `currentTask` started. */
    currentTaskAt: at(),
    /** The message of its first failure, or why it was skipped. */
    message: text(),
    /** Equal for messages that differ only in numbers, paths, host names and similar parts. Null without a message. */
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

/** Events of a log, in order. `seq` runs from 1 to n without gaps within a run. */
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
    /** Ansible's result as JSON, at most 64 KiB. Longer results are truncated and contain `_muster_truncated`. */
    result: jsonb(),
    /** Lines of Ansible's output with ANSI colors, joined by \n, without a final \n. Null when the event has no output. */
    stdout: text(),
    /** Number of the first line of `stdout` in the whole log, from 1. */
    startLine: bigint({ mode: 'number' }).notNull(),
    lineCount: integer().notNull().default(0),
    /** When Ansible emitted it, by the worker's clock. Batches are stored later, and much later after a database outage. */
    createdAt: at().notNull(),
  },
  (t) => [primaryKey({ columns: [t.jobRunId, t.seq] })],
)

export type JobRunEvent = typeof jobRunEvents.$inferSelect

/** `log`: the whole log as text, stored before the run ends. `file`: a file that the playbook wrote to its artifact directory. */
export type ArtifactKind = 'log' | 'file'

/** Files of a run in the artifact store. The row stays when the file is removed, and records when. */
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
    /** Relative to the artifact directory, separated by `/`. */
    path: text().notNull(),
    /** In bytes. */
    size: bigint({ mode: 'number' }).notNull(),
    sha256: text().notNull(),
    /** The store that has the file, and its key there: `local` or `s3`. */
    store: text().$type<'local' | 's3'>().notNull(),
    key: text().notNull(),
    createdAt: createdAt(),
    /** When retention removed it. */
    removedAt: at(),
  },
  (t) => [index().on(t.jobRunId), index().on(t.tenantId, t.createdAt).where(sql`removed_at is null`)],
)

export type JobArtifact = typeof jobArtifacts.$inferSelect

/**
 * What a batch of a run does. DRAINING: Slurm starts no further jobs on its nodes. WAITING_FOR_JOBS: running ones continue. RUNNING: the
 * playbook. VERIFYING: the nodes must be registered and healthy. RESUMING: Slurm may use them again.
 */
export const SLURM_BATCH_PHASES = ['DRAINING', 'WAITING_FOR_JOBS', 'RUNNING', 'VERIFYING', 'RESUMING', 'DONE', 'FAILED'] as const
export type SlurmBatchPhase = (typeof SLURM_BATCH_PHASES)[number]

/** Batches of a run over Slurm nodes, in order. At most the last one is unfinished. */
export const jobRunBatches = snakeCase.table(
  'job_run_batches',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    jobRunId: uuid()
      .notNull()
      .references(() => jobRuns.id, { onDelete: 'cascade' }),
    /** From 1. */
    number: integer().notNull(),
    phase: text().$type<SlurmBatchPhase>().notNull(),
    phaseSince: at().notNull().defaultNow(),
    /** The run that executes the playbook on its nodes. */
    childRunId: uuid().references(() => jobRuns.id, { onDelete: 'set null' }),
    /** Slurm actions that drain and resume its nodes. Without references: they are pruned earlier. */
    drainActionId: uuid(),
    resumeActionIds: uuid().array().notNull().default(sql`'{}'::uuid[]`),
    /** Why it failed. */
    error: text(),
    isTimedOut: boolean().notNull().default(false),
    createdAt: createdAt(),
    finishedAt: at(),
  },
  (t) => [uniqueIndex().on(t.jobRunId, t.number), index().on(t.tenantId, t.id), index().on(t.childRunId)],
)

export type JobRunBatch = typeof jobRunBatches.$inferSelect

/** OK: changed, verified and in service again. FAILED: not in service. SKIPPED: not touched. */
export type SlurmNodeOutcome = 'OK' | 'FAILED' | 'SKIPPED'

/** Slurm nodes of a run over batches. */
export const jobRunSlurmNodes = snakeCase.table(
  'job_run_slurm_nodes',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    jobRunId: uuid()
      .notNull()
      .references(() => jobRuns.id, { onDelete: 'cascade' }),
    clusterId: uuid().notNull(),
    /** Null: in no batch yet. */
    batchId: uuid().references(() => jobRunBatches.id, { onDelete: 'cascade' }),
    nodeId: uuid().references(() => computeNodes.id, { onDelete: 'set null' }),
    /** NodeName of Slurm, and name of the host in the run. */
    name: text().notNull(),
    host: text().notNull(),
    /** The reason with which Muster drained the node; null when it did not. */
    drainReason: text(),
    /** Whether that drain is in effect, as far as Muster knows. */
    isDrained: boolean().notNull().default(false),
    outcome: text().$type<SlurmNodeOutcome>(),
    message: text(),
  },
  (t) => [uniqueIndex().on(t.jobRunId, t.name), index().on(t.tenantId, t.id), index().on(t.batchId), index().on(t.nodeId)],
)

export type JobRunSlurmNode = typeof jobRunSlurmNodes.$inferSelect

type Optional<T> = { [K in keyof T]?: T[K] | null | undefined }
/** Launch settings, which replace those of the template; others store them for runs that start later. */
export type RunSettings = Optional<{
  extraVars: Record<string, unknown>
  become: boolean
  forks: number
  timeoutSeconds: number
  serial: string
  maxFailPercentage: number
  jobTags: string[]
  skipTags: string[]
  checkMode: boolean
  diffMode: boolean
  verbosity: number
  slurm: SlurmRunOptions
}>
