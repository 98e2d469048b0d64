import { sql } from 'drizzle-orm'
import { boolean, index, integer, jsonb, snakeCase, text, unique, uuid } from 'drizzle-orm/pg-core'
import { tenants, userRef } from '../access/tables.ts'
import { at, createdAt, id, updatedAt } from '../kernel/db/columns.ts'
import { jobRuns, type RunSettings } from '../runs/tables.ts'
import { ownerColumns } from '../schedules/tables.ts'
import { jobTemplates } from '../templates/tables.ts'

/** `muster`: over time and body, as Muster signs its own webhooks. `github`: over the body, as GitHub and many others sign. */
export const TRIGGER_SIGNATURES = ['muster', 'github'] as const
export type TriggerSignature = (typeof TRIGGER_SIGNATURES)[number]

/** An extra var with the value that a JSON Pointer (RFC 6901) finds in the body. */
export type TriggerVariable = { name: string; path: string; isRequired: boolean }

/** Signed requests that start runs of a job template. */
export const triggers = snakeCase.table(
  'triggers',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    name: text().notNull(),
    description: text().notNull().default(''),
    templateId: uuid()
      .notNull()
      .references(() => jobTemplates.id, { onDelete: 'cascade' }),
    /** Selector of the nodes, resolved at each request. */
    limit: text().notNull(),
    /** JSON Pointer to names of nodes in the body, which must be among those of `limit`. Null: all nodes of `limit`. */
    nodesPath: text(),
    /** Fixed launch settings. */
    settings: jsonb().$type<RunSettings>().notNull().default(sql`'{}'::jsonb`),
    variables: jsonb().$type<TriggerVariable[]>().notNull().default(sql`'[]'::jsonb`),
    signature: text().$type<TriggerSignature>().notNull().default('muster'),
    encrypted: jsonb().$type<{ secret?: string }>().notNull().default(sql`'{}'::jsonb`),
    secretCreatedAt: at().notNull().default(sql`now()`),
    /** Requests of the last hour that may start or try to start a run. */
    maxPerHour: integer().notNull(),
    isEnabled: boolean().notNull().default(true),
    ...ownerColumns(),
    createdById: userRef(),
    createdByName: text().notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [unique().on(t.tenantId, t.name), index().on(t.templateId)],
)
export type Trigger = typeof triggers.$inferSelect

export const DELIVERY_OUTCOMES = ['STARTED', 'FAILED'] as const

/** Requests with a valid signature, without their bodies. */
export const triggerDeliveries = snakeCase.table(
  'trigger_deliveries',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    triggerId: uuid()
      .notNull()
      .references(() => triggers.id, { onDelete: 'cascade' }),
    outcome: text().$type<(typeof DELIVERY_OUTCOMES)[number]>().notNull(),
    /** Why nothing was started, or which nodes were left out. */
    message: text(),
    /** SHA-256 of the idempotency key. Null: nothing was started, so that a repeat tries again. */
    keyHash: text(),
    /** SHA-256 of the signature: a request that was recorded by others starts nothing with another key. */
    signatureHash: text(),
    bodyHash: text().notNull(),
    /** Number of times that the request was repeated. */
    repeatCount: integer().notNull().default(0),
    address: text(),
    jobRunId: uuid().references(() => jobRuns.id, { onDelete: 'set null' }),
    createdAt: createdAt(),
  },
  (t) => [
    unique().on(t.triggerId, t.keyHash),
    unique().on(t.triggerId, t.signatureHash),
    index().on(t.triggerId, t.id),
    index().on(t.triggerId, t.createdAt),
    index().on(t.tenantId, t.id),
    index().on(t.jobRunId),
  ],
)
export type TriggerDelivery = typeof triggerDeliveries.$inferSelect
