import { sql } from 'drizzle-orm'
import { integer, jsonb, snakeCase, text, uuid } from 'drizzle-orm/pg-core'
import { tenants } from '../access/tables.ts'
import { at, createdAt, id, updatedAt } from '../kernel/db/columns.ts'
import type { Difference } from './objects.ts'

/** What a check does. REPORT: compare only. PUSH: then write what is missing or different. */
export const CHECK_MODES = ['REPORT', 'PUSH'] as const
export type CheckMode = (typeof CHECK_MODES)[number]
/** What periodic checks do. OFF: there are none. */
export const TARGET_MODES = ['OFF', ...CHECK_MODES] as const
export type TargetMode = (typeof TARGET_MODES)[number]

/** An SMD and a BSS of OpenCHAMI that are to have the nodes, groups and boot parameters of the tenant. One per tenant; off without one. */
export const openchamiTargets = snakeCase.table('openchami_targets', {
  id: id(),
  tenantId: uuid()
    .notNull()
    .unique()
    .references(() => tenants.id),
  name: text().notNull().default('OpenCHAMI'),
  /** Addresses without `/hsm/v2` and `/boot/v1`; null: the service is left out. */
  smdUrl: text(),
  bssUrl: text(),
  /** PEM certificates of the only accepted authorities; null: those that the worker trusts. */
  caCertificate: text(),
  /** `token`: the JWT of both services, as in credentials. */
  encrypted: jsonb().$type<{ token?: string }>().notNull().default(sql`'{}'::jsonb`),
  mode: text().$type<TargetMode>().notNull().default('REPORT'),
  intervalSeconds: integer().notNull().default(3600),
  /** When a check outside of the interval was requested that no worker has finished yet, and its mode. */
  requestedAt: at(),
  requestedMode: text().$type<CheckMode>(),
  /** End of a worker's claim; afterwards another worker may check. */
  leasedUntil: at(),
  leaseToken: uuid(),
  /** The last check, and why it failed; null: it succeeded. */
  checkedAt: at(),
  error: text(),
  failingSince: at(),
  /** The last differences that were found, at most MAX_DIFFERENCES, and how many there were. */
  differences: jsonb().$type<Difference[]>().notNull().default(sql`'[]'::jsonb`),
  differenceCount: integer().notNull().default(0),
  /** Since when the services differ from the tenant; objects that only they have do not count. */
  driftSince: at(),
  /** The last push that wrote something, and how many objects. */
  pushedAt: at(),
  pushedCount: integer(),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
})
export type OpenchamiTarget = typeof openchamiTargets.$inferSelect
