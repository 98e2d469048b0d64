import type { Discovery } from '@muster/discovery'
import { sql } from 'drizzle-orm'
import { bytea, index, integer, jsonb, snakeCase, text, uuid } from 'drizzle-orm/pg-core'
import { tenants } from '../access/tables.ts'
import { at, createdAt, id } from '../kernel/db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'

export type DiscoveryStatus = 'PENDING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED'

export const DISCOVERY_REASONS = ['onboarding', 'refresh', 'sweep', 'run', 'schedule'] as const

/** Discoveries of nodes. A result is an immutable snapshot. */
export const discoveries = snakeCase.table(
  'discoveries',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    nodeId: uuid()
      .notNull()
      .references(() => computeNodes.id, { onDelete: 'cascade' }),
    reason: text().$type<(typeof DISCOVERY_REASONS)[number]>().notNull(),
    result: jsonb().$type<Discovery>(),
    error: text(),
    durationMs: integer(),
    createdAt: createdAt(),
    startedAt: at(),
    finishedAt: at(),
    status: text()
      .$type<DiscoveryStatus>()
      .notNull()
      .generatedAlwaysAs(
        sql`case when finished_at is null then case when started_at is null then 'PENDING' else 'RUNNING' end
          when error is null then 'SUCCEEDED' else 'FAILED' end`,
      ),
  },
  (t) => [index().on(t.nodeId, t.id), index().on(t.tenantId, t.id), index().on(t.createdAt).where(sql`finished_at is null`)],
)

/** Row of a discovery. */
export type DiscoveryRow = typeof discoveries.$inferSelect

/** The probe's raw output, gzip. A separate table, because lists never need it. */
export const discoveryEvidence = snakeCase.table('discovery_evidence', {
  discoveryId: uuid()
    .primaryKey()
    .references(() => discoveries.id, { onDelete: 'cascade' }),
  gzip: bytea().notNull(),
})
