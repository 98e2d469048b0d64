import { sql } from 'drizzle-orm'
import { boolean, customType, index, integer, jsonb, snakeCase, text, unique, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { tenants, userRef } from '../access/tables.ts'
import { at, createdAt, id, updatedAt } from '../kernel/db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'
import type { AlertKind, Severity } from './kinds.ts'

/** Selects the alerts that match every given part. */
export type AlertMatcher = {
  kinds?: AlertKind[]
  severities?: Severity[]
  /** A node query that the alert's node matches. */
  query?: string
  clusters?: string[]
}

/** ID of a transaction, 64 bits, never reused. */
const xid8 = customType<{ data: string }>({ dataType: () => 'xid8' })
/** The ID of the current transaction. */
export const currentXid = sql`pg_current_xact_id()`

/** A condition that needs attention: of one node, or with `nodeId` null of a cluster or the whole tenant. */
export const alerts = snakeCase.table(
  'alerts',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    nodeId: uuid().references(() => computeNodes.id, { onDelete: 'cascade' }),
    cluster: text(),
    kind: text().$type<AlertKind>().notNull(),
    severity: text().$type<Severity>().notNull(),
    /** Key of the alert, unique per kind. */
    key: text().notNull(),
    /** The newest of its kind and key, which is reopened when it recurs within five minutes. */
    isLatest: boolean().notNull().default(true),
    openedAt: createdAt(),
    lastAt: createdAt(),
    count: integer().notNull().default(1),
    resolvedAt: at(),
    acknowledgedAt: at(),
    acknowledgedById: userRef(),
    acknowledgedByName: text(),
    acknowledgment: text(),
    /** The facts behind it. */
    evidence: jsonb().$type<Record<string, unknown>>().notNull().default(sql`'{}'::jsonb`),
    /** The last notified event and its time. Null: never notified. */
    notifiedEvent: text().$type<'opened' | 'resolved'>(),
    notifiedAt: at(),
    /** When to notify its current state. Null: already notified. */
    notifyAt: at(),
    /** The transaction of the last change that subscribers of alerts see. Every such write sets it; see read-changed-alerts.ts. */
    changedXid: xid8().notNull().default(currentXid),
  },
  (t) => [
    uniqueIndex().on(t.tenantId, t.kind, t.key).where(sql`is_latest`),
    index().on(t.tenantId, t.id),
    index().on(t.tenantId, t.changedXid),
    index().on(t.nodeId, t.id),
    index('alerts_open_index').on(t.tenantId, t.lastAt).where(sql`resolved_at is null`),
    index('alerts_announce_index').on(t.notifyAt).where(sql`notify_at is not null`),
  ],
)
export type Alert = typeof alerts.$inferSelect

/** A period without notifications of matching alerts, which stay visible. */
export const alertSilences = snakeCase.table(
  'alert_silences',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    matcher: jsonb().$type<AlertMatcher>().notNull(),
    reason: text().notNull(),
    startsAt: at().notNull(),
    endsAt: at().notNull(),
    createdById: userRef(),
    createdByName: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [index().on(t.tenantId, t.endsAt)],
)
export type AlertSilence = typeof alertSilences.$inferSelect

export const ROUTE_KINDS = ['webhook', 'email', 'slack', 'dingtalk', 'feishu', 'wecom'] as const
export type RouteKind = (typeof ROUTE_KINDS)[number]
export const SMTP_SECURITIES = ['tls', 'starttls', 'none'] as const
export type SmtpSecurity = (typeof SMTP_SECURITIES)[number]
/** The non-secret settings of a route. */
export type RouteSettings = {
  /** Hooks: scheme and host of the URL. The rest of the URL is often secret. */
  origin?: string
  /** E-mail only. */
  host?: string
  port?: number
  security?: SmtpSecurity
  username?: string
  from?: string
  to?: string[]
}
/** `url`: URL of a hook. `secret`: signing secret, or the password of the mail server. */
export const ROUTE_SECRETS = ['url', 'secret'] as const
export type RouteSecret = (typeof ROUTE_SECRETS)[number]

/** A destination of notifications. */
export const alertRoutes = snakeCase.table(
  'alert_routes',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    name: text().notNull(),
    kind: text().$type<RouteKind>().notNull(),
    settings: jsonb().$type<RouteSettings>().notNull().default(sql`'{}'::jsonb`),
    /** Field name -> encrypted record, as in credentials. */
    encrypted: jsonb().$type<Partial<Record<RouteSecret, string>>>().notNull().default(sql`'{}'::jsonb`),
    matcher: jsonb().$type<AlertMatcher>().notNull().default(sql`'{}'::jsonb`),
    isEnabled: boolean().notNull().default(true),
    /** Whether resolved alerts are notified too. */
    notifyOnResolve: boolean().notNull().default(true),
    /** Until when a worker has claimed the route; afterwards another one may send. */
    leasedUntil: at(),
    leaseToken: uuid(),
    /** Since when deliveries fail, why, and when the next attempt is due. */
    failingSince: at(),
    lastError: text(),
    retryAt: at(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [unique().on(t.tenantId, t.name)],
)
export type AlertRoute = typeof alertRoutes.$inferSelect

/** An alert in a message, fixed when the message is created, so that every attempt sends the same. */
export type AlertSnapshot = {
  id: string
  kind: AlertKind
  severity: Severity
  node: string | null
  cluster: string | null
  openedAt: string
  resolvedAt: string | null
  count: number
  evidence: Record<string, unknown>
}
export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'FAILED'

/** One message on one route. Every attempt has the same id, so that receivers can detect duplicates. */
export const alertDeliveries = snakeCase.table(
  'alert_deliveries',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    routeId: uuid()
      .notNull()
      .references(() => alertRoutes.id, { onDelete: 'cascade' }),
    event: text().$type<'opened' | 'resolved' | 'test'>().notNull(),
    alerts: jsonb().$type<AlertSnapshot[]>().notNull().default(sql`'[]'::jsonb`),
    attempts: integer().notNull().default(0),
    attemptedAt: at(),
    lastError: text(),
    deliveredAt: at(),
    failedAt: at(),
    status: text()
      .$type<DeliveryStatus>()
      .notNull()
      .generatedAlwaysAs(
        sql`case when delivered_at is not null then 'DELIVERED' when failed_at is not null then 'FAILED' else 'PENDING' end`,
      ),
    createdAt: createdAt(),
  },
  (t) => [
    index('alert_deliveries_pending_index').on(t.routeId, t.id).where(sql`delivered_at is null and failed_at is null`),
    index().on(t.routeId, t.id),
    index().on(t.tenantId, t.id),
    index().using('gin', t.alerts.op('jsonb_path_ops')),
  ],
)
export type AlertDelivery = typeof alertDeliveries.$inferSelect
