import type { ConfigNode } from '@muster/slurm/config'
import { sql } from 'drizzle-orm'
import { index, jsonb, snakeCase, text, uuid } from 'drizzle-orm/pg-core'
import { tenants } from '../access/tables.ts'
import type { SaltColumns } from '../clusters/tables.ts'
import { slurmClusters } from '../clusters/tables.ts'
import { at, createdAt, id } from '../kernel/db/columns.ts'
import type { SlurmNodeCheck } from '../slurm-operations/tables.ts'

/** A node of a check; `checks` is null until it was checked. */
export type SlurmReadinessNode = { nodeId: string; name: string; config: ConfigNode; checks: SlurmNodeCheck[] | null }

/** Checks of nodes over SSH, before they join a cluster. They change nothing. */
export const slurmReadinessChecks = snakeCase.table(
  'slurm_readiness_checks',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    /** The cluster that the nodes may join; null: a new one. */
    clusterId: uuid().references(() => slurmClusters.id, { onDelete: 'cascade' }),
    /** Folder with an installed Slurm; null: packages are installed. */
    prefix: text(),
    /** Salt of a new cluster; null: that of `clusterId`. */
    salt: jsonb().$type<SaltColumns>(),
    nodes: jsonb().$type<SlurmReadinessNode[]>().notNull().default(sql`'[]'::jsonb`),
    /** Token of the worker that has claimed the check, and until when. */
    claimToken: text(),
    claimedUntil: at(),
    /** Why the check could not be made. */
    error: text(),
    createdAt: createdAt(),
    startedAt: at(),
    finishedAt: at(),
  },
  (t) => [index().on(t.tenantId, t.id), index().on(t.clusterId), index().on(t.createdAt).where(sql`finished_at is null`)],
)
export type SlurmReadinessCheck = typeof slurmReadinessChecks.$inferSelect
