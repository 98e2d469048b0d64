import { isNull, sql } from 'drizzle-orm'
import { bigint, index, integer, jsonb, snakeCase, text, unique, uuid } from 'drizzle-orm/pg-core'
import { tenants } from '../access/tables.ts'
import { createdAt, id } from '../kernel/db/columns.ts'

/** `denied`: the caller lacks the permission. `failed`: any other error. */
export const AUDIT_OUTCOMES = ['succeeded', 'denied', 'failed'] as const
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number]

export const ACTOR_KINDS = ['user', 'token', 'worker', 'agent', 'system', 'anonymous'] as const
export type ActorKind = (typeof ACTOR_KINDS)[number]

export const AUDIT_CHANNELS = ['console', 'api', 'cli', 'agent', 'worker', 'system'] as const
export type AuditChannel = (typeof AUDIT_CHANNELS)[number]

/**
 * One row per action, written in the transaction of the change. The application only inserts and reads rows; sealing sets `seq` and
 * `hash` once, and retention deletes sealed rows.
 */
export const auditEntries = snakeCase.table(
  'audit_entries',
  {
    id: id(),
    /** Null: concerns the installation, such as a sign-in with an unknown email address. */
    tenantId: uuid().references(() => tenants.id),
    actorKind: text().$type<ActorKind>().notNull(),
    actorId: text(),
    actorName: text().notNull(),
    /** Row ID of the session; null for tokens and processes. A token is the actor itself. */
    sessionId: text(),
    channel: text().$type<AuditChannel>().notNull().default('system'),
    /** At most 200 characters of the User-Agent header. */
    userAgent: text(),
    /** Network address of the client. */
    address: text(),
    /** Name of the permission that the action required. */
    permission: text(),
    /** `<object>.<verb>`, for example `job_run.cancel`. */
    action: text().notNull(),
    objectId: uuid(),
    objectName: text(),
    details: jsonb().$type<Record<string, unknown>>().notNull().default(sql`'{}'::jsonb`),
    /** Changed fields only; secrets are masked. `before` is null for a new object, `after` for a deleted one. */
    before: jsonb().$type<Record<string, unknown>>(),
    after: jsonb().$type<Record<string, unknown>>(),
    /** Reason that the caller gave. */
    reason: text(),
    requestId: text(),
    runId: uuid(),
    outcome: text().$type<AuditOutcome>().notNull().default('succeeded'),
    /** Error message; null for a succeeded action. */
    error: text(),
    /** Number of equal denied or failed attempts that this row represents. */
    count: integer().notNull().default(1),
    createdAt: createdAt(),
    /** Position in the tenant's chain, from 1; null until sealed. */
    seq: bigint({ mode: 'number' }),
    /** Hash of this row and its predecessor, hexadecimal; see chain.ts. */
    hash: text(),
  },
  (t) => [
    index().on(t.tenantId, t.id),
    index().on(t.objectId),
    index().on(t.tenantId, t.seq),
    index('audit_entries_unsealed_index').on(t.tenantId, t.id).where(isNull(t.seq)),
    index().on(t.runId).where(sql`${t.runId} is not null`),
  ],
)
export type AuditEntry = typeof auditEntries.$inferSelect

/** `seal`: the end of the chain after a pass. `prune`: retention deleted the rows up to and including `seq`. */
export const CHECKPOINT_KINDS = ['seal', 'prune'] as const

/** A signed statement about the chain: the row at `seq` has `hash`. */
export const auditCheckpoints = snakeCase.table(
  'audit_checkpoints',
  {
    id: id(),
    tenantId: uuid().references(() => tenants.id),
    kind: text().$type<(typeof CHECKPOINT_KINDS)[number]>().notNull(),
    seq: bigint({ mode: 'number' }).notNull(),
    hash: text().notNull(),
    /** Version of the encryption key from which the signing key is derived. */
    keyVersion: integer().notNull(),
    /** Ed25519 signature, base64. */
    signature: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [unique().on(t.tenantId, t.kind, t.seq).nullsNotDistinct()],
)
export type AuditCheckpoint = typeof auditCheckpoints.$inferSelect
