import { sql } from 'drizzle-orm'
import { boolean, index, integer, jsonb, snakeCase, text, unique, uuid } from 'drizzle-orm/pg-core'
import { apiTokens, tenants, userRef } from '../access/tables.ts'
import { at, createdAt, id, updatedAt } from '../kernel/db/columns.ts'
import { jobRuns, type RunSettings } from '../runs/tables.ts'
import { jobTemplates } from '../templates/tables.ts'
import type { Blackout } from './blackouts.ts'

/** `run`: starts a run of a job template. `discovery`: discovers nodes. */
export const SCHEDULE_TARGETS = ['run', 'discovery'] as const
export type ScheduleTarget = (typeof SCHEDULE_TARGETS)[number]

/** What happens with times that passed while no worker could fire: nothing, or one firing for all of them. */
export const CATCH_UP_POLICIES = ['skip', 'run_once'] as const
/** What happens when the previous firing has not ended: nothing starts, both run, or the previous run is canceled. */
export const OVERLAP_POLICIES = ['skip', 'allow', 'cancel_previous'] as const

/** Whose authority applies when Muster starts something later: of a user, or of an API token. See `findOwnerActor`. */
export const ownerColumns = () => ({
  ownerId: userRef(),
  ownerName: text().notNull(),
  /** A token's schedule never gets the permissions of the token's owner: without the token, it is refused. */
  isOwnedByToken: boolean().notNull().default(false),
  ownerTokenId: uuid().references(() => apiTokens.id, { onDelete: 'set null' }),
})

export const schedules = snakeCase.table(
  'schedules',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    name: text().notNull(),
    description: text().notNull().default(''),
    target: text().$type<ScheduleTarget>().notNull(),
    /** Of a run. */
    templateId: uuid().references(() => jobTemplates.id, { onDelete: 'cascade' }),
    /** Selector of the nodes, resolved at each firing. */
    limit: text().notNull(),
    /** Launch settings of a run; omitted ones are those of the template. */
    settings: jsonb().$type<RunSettings>().notNull().default(sql`'{}'::jsonb`),
    /** Cron expression or RRULE. */
    rule: text().notNull(),
    timeZone: text().notNull(),
    /** The firing is delayed by up to this time, which differs between schedules and due times. */
    jitterSeconds: integer().notNull().default(0),
    catchUp: text().$type<(typeof CATCH_UP_POLICIES)[number]>().notNull().default('skip'),
    overlap: text().$type<(typeof OVERLAP_POLICIES)[number]>().notNull().default('skip'),
    blackouts: jsonb().$type<Blackout[]>().notNull().default(sql`'[]'::jsonb`),
    isEnabled: boolean().notNull().default(true),
    startsAt: at(),
    endsAt: at(),
    /** The next time of the rule. Null: disabled, or over. Its conditional update is the claim of a firing. */
    dueAt: at(),
    /** `dueAt` with its jitter. */
    nextRunAt: at(),
    ...ownerColumns(),
    createdById: userRef(),
    createdByName: text().notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [unique().on(t.tenantId, t.name), index().on(t.nextRunAt).where(sql`next_run_at is not null`), index().on(t.templateId)],
)
export type Schedule = typeof schedules.$inferSelect

export const FIRING_OUTCOMES = ['STARTED', 'SKIPPED', 'FAILED'] as const
export type FiringOutcome = (typeof FIRING_OUTCOMES)[number]
/** Why nothing was started. `refused`: the owner may not start it any more. */
export const FIRING_REASONS = ['blackout', 'overlap', 'missed', 'refused', 'error'] as const
export type FiringReason = (typeof FIRING_REASONS)[number]

/** History of a schedule: one row per due time, and one per start by a user. */
export const scheduleFirings = snakeCase.table(
  'schedule_firings',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    scheduleId: uuid()
      .notNull()
      .references(() => schedules.id, { onDelete: 'cascade' }),
    dueAt: at().notNull(),
    outcome: text().$type<FiringOutcome>().notNull(),
    reason: text().$type<FiringReason>(),
    /** Who started it outside of the rule. Null: it was due. */
    requestedById: userRef(),
    requestedByName: text(),
    /** For users: why nothing was started and what to do, or what was left out. */
    message: text(),
    /** Further due times that this firing stands for, after an outage. */
    missedCount: integer().notNull().default(0),
    jobRunId: uuid().references(() => jobRuns.id, { onDelete: 'set null' }),
    /** Discoveries that it started. */
    discoveryIds: uuid().array().notNull().default(sql`'{}'::uuid[]`),
    createdAt: createdAt(),
  },
  (t) => [
    unique().on(t.scheduleId, t.dueAt),
    index().on(t.tenantId, t.id),
    index().on(t.scheduleId, t.id),
    index().on(t.jobRunId),
  ],
)
export type ScheduleFiring = typeof scheduleFirings.$inferSelect
