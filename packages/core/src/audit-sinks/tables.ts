import { sql } from 'drizzle-orm'
import { bigint, boolean, integer, jsonb, snakeCase, text, unique, uuid } from 'drizzle-orm/pg-core'
import { tenants } from '../access/tables.ts'
import { at, createdAt, id, updatedAt } from '../kernel/db/columns.ts'

export const SINK_KINDS = ['webhook', 'syslog'] as const
export type SinkKind = (typeof SINK_KINDS)[number]

/** The non-secret settings of a sink. */
export type SinkSettings = {
  /** Webhook: scheme and host of the URL. The rest of the URL is often secret. */
  origin?: string
  /** Syslog. */
  host?: string
  port?: number
  /** PEM certificates of the only accepted authorities; without them, those that the worker trusts. */
  caCertificate?: string
}

/** `secret`: signs the requests of a webhook. `authorization`: its Authorization header. */
export const SINK_SECRETS = ['url', 'secret', 'authorization'] as const
export type SinkSecret = (typeof SINK_SECRETS)[number]

/** A receiver of all audit entries of the tenant, in the order of the chain. */
export const auditSinks = snakeCase.table(
  'audit_sinks',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    name: text().notNull(),
    kind: text().$type<SinkKind>().notNull(),
    settings: jsonb().$type<SinkSettings>().notNull().default(sql`'{}'::jsonb`),
    /** Field name -> encrypted record, as in credentials. */
    encrypted: jsonb().$type<Partial<Record<SinkSecret, string>>>().notNull().default(sql`'{}'::jsonb`),
    isEnabled: boolean().notNull().default(true),
    /** Position in the chain up to which the receiver accepted all entries. */
    deliveredSeq: bigint({ mode: 'number' }).notNull(),
    /** When the receiver last accepted entries. */
    deliveredAt: at(),
    /** When the oldest overdue entry was written; null when no entry is overdue. */
    behindSince: at(),
    /** End of a worker's claim; afterwards another worker may deliver. */
    leasedUntil: at(),
    leaseToken: uuid(),
    /** Attempts since the last success. */
    attempts: integer().notNull().default(0),
    failingSince: at(),
    lastError: text(),
    retryAt: at(),
    /** When a test was requested that no worker has executed yet. */
    testRequestedAt: at(),
    /** The last test, and why it failed; null: it succeeded. */
    testedAt: at(),
    testError: text(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [unique().on(t.tenantId, t.name)],
)
export type AuditSink = typeof auditSinks.$inferSelect
