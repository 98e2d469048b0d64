import type { SlurmAction, SlurmVerb } from '@muster/slurm/commands'
import { sql } from 'drizzle-orm'
import { index, integer, jsonb, snakeCase, text, unique, uuid } from 'drizzle-orm/pg-core'
import { tenants, userRef } from '../access/tables.ts'
import { slurmClusters } from '../clusters/tables.ts'
import { at, createdAt, id } from '../kernel/db/columns.ts'

export const SLURM_ACTION_STATUSES = ['PENDING', 'RUNNING', 'SUCCEEDED', 'PARTIAL', 'FAILED'] as const
export type SlurmActionStatus = (typeof SLURM_ACTION_STATUSES)[number]

/**
 * UNCHANGED: it was so already. REFUSED: by Slurm, in its words. NOT_VERIFIED: the command ran, and its effect was not seen.
 * NOT_FOUND: the controller has no such object. NOT_SENT: no command ran for it.
 */
export const SLURM_ITEM_RESULTS = ['DONE', 'UNCHANGED', 'REFUSED', 'NOT_VERIFIED', 'NOT_FOUND', 'NOT_SENT'] as const
export type SlurmItemResult = (typeof SLURM_ITEM_RESULTS)[number]

/** Actions on nodes, jobs, partitions and reservations of Slurm clusters. */
export const slurmActions = snakeCase.table(
  'slurm_actions',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    clusterId: uuid()
      .notNull()
      .references(() => slurmClusters.id, { onDelete: 'cascade' }),
    verb: text().$type<SlurmVerb>().notNull(),
    /** The verb with its options, as the command is built from it. */
    action: jsonb().$type<SlurmAction>().notNull(),
    /** As the caller gave it. */
    reason: text().notNull(),
    targetCount: integer().notNull(),
    /** Items without the wanted effect, at the end. */
    problemCount: integer().notNull().default(0),
    /** Token of the execution that has claimed the action, and until when. */
    claimToken: text(),
    claimedUntil: at(),
    startedAt: at(),
    finishedAt: at(),
    /** Why the action ended early, such as a silent controller. */
    error: text(),
    createdById: userRef(),
    createdByName: text().notNull(),
    createdAt: createdAt(),
    status: text()
      .$type<SlurmActionStatus>()
      .notNull()
      .generatedAlwaysAs(
        sql`case when finished_at is not null then case when problem_count = 0 then 'SUCCEEDED' when problem_count < target_count then 'PARTIAL' else 'FAILED' end
          when started_at is not null then 'RUNNING' else 'PENDING' end`,
      ),
  },
  (t) => [index().on(t.tenantId, t.id), index().on(t.clusterId, t.id), index().on(t.createdAt).where(sql`finished_at is null`)],
)
export type SlurmActionRow = typeof slurmActions.$inferSelect

/** One target of an action. */
export const slurmActionItems = snakeCase.table(
  'slurm_action_items',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    actionId: uuid()
      .notNull()
      .references(() => slurmActions.id, { onDelete: 'cascade' }),
    /** Name of the node, partition or reservation, or ID of the job. */
    target: text().notNull(),
    /** What the controller reported before the command, and what afterwards; null when it had no such object. */
    before: text(),
    after: text(),
    /** Set before the command runs. */
    sentAt: at(),
    result: text().$type<SlurmItemResult>(),
    /** Slurm's words of a refusal, or why the effect is not known. */
    message: text(),
  },
  (t) => [unique().on(t.actionId, t.target), index().on(t.actionId, t.id)],
)
export type SlurmActionItem = typeof slurmActionItems.$inferSelect
