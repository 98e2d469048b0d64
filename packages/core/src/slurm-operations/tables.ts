import { sql } from 'drizzle-orm'
import { boolean, index, integer, jsonb, snakeCase, text, unique, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { tenants, userRef } from '../access/tables.ts'
import { slurmClusters } from '../clusters/tables.ts'
import { at, createdAt, id } from '../kernel/db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'

export const SLURM_OPERATION_KINDS = ['CREATE', 'SCALE_OUT', 'SCALE_IN', 'CONFIGURE', 'POWER_SAVING'] as const
export type SlurmOperationKind = (typeof SLURM_OPERATION_KINDS)[number]

/** PARTIAL: some nodes failed. FAILED: undone, or all nodes failed. */
export const SLURM_OPERATION_STATUSES = ['PENDING', 'RUNNING', 'SUCCEEDED', 'PARTIAL', 'FAILED', 'CANCELED'] as const
export type SlurmOperationStatus = (typeof SLURM_OPERATION_STATUSES)[number]

/** Progress of one step. Times are ISO 8601. */
export type SlurmOperationStep = {
  name: string
  state: 'RUNNING' | 'DONE' | 'FAILED'
  startedAt: string
  finishedAt: string | null
  /** The last job run of the step. */
  runId: string | null
  message: string | null
}

/** Progress of the rollout of a configuration. */
export type SlurmRolloutProgress = {
  from: number
  to: number
  /** Nodes that get the files, and those of them that run slurmctld, the primary first. A refresh may change what the cluster reports. */
  hosts: { nodeId: string; name: string }[]
  controllers: { nodeId: string; name: string; controller: string | null }[]
  /** Those of the hosts that had no files, by node ID. */
  newHosts: string[]
  /** Nodes that worked before the first file was written. */
  workingNodes: string[]
  /** Why the earlier files are restored; null while the new ones are written and checked. */
  failure: string | null
}

/** A job of Salt that applies the state of a role on minions. Times are ISO 8601. */
export type SlurmSaltJob = {
  /** Identifies the work within the operation: a repeated step finds the job. */
  key: string
  /** Job ID, which is recorded before Salt gets it: a job that another worker started is not started again. */
  jid: string
  minions: { nodeId: string; minionId: string }[]
  startedAt: string
  finishedAt: string | null
  /** Why nodes failed, by node ID; those without a minion have failed before the job begins. */
  failed: Record<string, string>
}

/** The index that limits a cluster to one unfinished operation. */
export const ONE_UNFINISHED = 'slurm_operations_one_unfinished'

/** Changes of a cluster that take minutes to days. A worker executes their steps; another one continues after its loss. */
export const slurmOperations = snakeCase.table(
  'slurm_operations',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    clusterId: uuid()
      .notNull()
      .references(() => slurmClusters.id, { onDelete: 'cascade' }),
    kind: text().$type<SlurmOperationKind>().notNull(),
    /** Options of the kind, as the caller gave them. */
    input: jsonb().$type<Record<string, unknown>>().notNull().default(sql`'{}'::jsonb`),
    /** What the caller confirmed. */
    plan: jsonb().$type<Record<string, unknown>>().notNull().default(sql`'{}'::jsonb`),
    reason: text().notNull(),
    /** In the order of their start. */
    steps: jsonb().$type<SlurmOperationStep[]>().notNull().default(sql`'[]'::jsonb`),
    /** Name of the current or last step. */
    step: text(),
    /** Version of the configuration that the operation rolls out. */
    configNumber: integer(),
    /** The last rollout; another worker continues it. Null before its first file is written. */
    rollout: jsonb().$type<SlurmRolloutProgress>(),
    saltJobs: jsonb().$type<SlurmSaltJob[]>().notNull().default(sql`'[]'::jsonb`),
    nodeCount: integer().notNull().default(0),
    /** Nodes that failed, at the end. */
    problemCount: integer().notNull().default(0),
    /** Token of the execution that has claimed the operation, and until when. */
    claimToken: text(),
    claimedUntil: at(),
    cancelRequestedAt: at(),
    cancelRequestedById: userRef(),
    cancelRequestedByName: text(),
    /** Why the operation failed. Set before its steps are undone. */
    error: text(),
    createdById: userRef(),
    createdByName: text().notNull(),
    createdAt: createdAt(),
    startedAt: at(),
    finishedAt: at(),
    status: text()
      .$type<SlurmOperationStatus>()
      .notNull()
      .generatedAlwaysAs(
        sql`case
          when finished_at is null then case when started_at is null then 'PENDING' else 'RUNNING' end
          when error is not null and cancel_requested_at is not null then 'CANCELED'
          when error is not null then 'FAILED'
          when problem_count = 0 then 'SUCCEEDED'
          when problem_count < node_count then 'PARTIAL' else 'FAILED' end`,
      ),
  },
  (t) => [
    index().on(t.tenantId, t.id),
    index().on(t.clusterId, t.id),
    index().on(t.createdAt).where(sql`finished_at is null`),
    uniqueIndex(ONE_UNFINISHED).on(t.clusterId).where(sql`finished_at is null`),
  ],
)
export type SlurmOperation = typeof slurmOperations.$inferSelect

/** One finding about a node before or during an operation. */
export type SlurmNodeCheck = { name: string; state: 'OK' | 'WARNING' | 'FAILED'; message: string }

/** A node of an operation. */
export const slurmOperationNodes = snakeCase.table(
  'slurm_operation_nodes',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    operationId: uuid()
      .notNull()
      .references(() => slurmOperations.id, { onDelete: 'cascade' }),
    nodeId: uuid().references(() => computeNodes.id, { onDelete: 'set null' }),
    /** NodeName. */
    name: text().notNull(),
    /** What the operation does with the node, or did last. */
    phase: text().notNull().default('WAITING'),
    isFailed: boolean().notNull().default(false),
    /** Why it failed, or the last result. */
    message: text(),
    checks: jsonb().$type<SlurmNodeCheck[]>().notNull().default(sql`'[]'::jsonb`),
  },
  (t) => [unique().on(t.operationId, t.name), index().on(t.tenantId, t.id), index().on(t.nodeId)],
)
export type SlurmOperationNode = typeof slurmOperationNodes.$inferSelect
