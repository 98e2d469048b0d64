import { sql } from 'drizzle-orm'
import { index, jsonb, snakeCase, text, unique, uuid } from 'drizzle-orm/pg-core'
import { tenants } from '../access/tables.ts'
import { slurmClusters } from '../clusters/tables.ts'
import { at, createdAt, id, updatedAt } from '../kernel/db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'
import { powerRuns } from '../power/tables.ts'

/** When slurmctld suspends and resumes nodes. Durations are those of slurm.conf; rates are nodes per minute. */
export type PowerSavingSettings = {
  suspendTimeSeconds: number
  suspendTimeoutSeconds: number
  resumeTimeoutSeconds: number
  suspendRate: number
  resumeRate: number
  /** Nodes that slurmctld never suspends, as a hostlist; null: none besides those without a BMC. */
  excludedNodes: string | null
  excludedPartitions: string[]
  /** Where the controllers reach the API of Muster over HTTPS. */
  apiUrl: string
  /** PEM certificates of the only accepted authorities; null: those that the controllers trust. */
  caCertificate: string | null
}

/** Managed clusters with power saving. */
export const slurmPowerSavings = snakeCase.table(
  'slurm_power_savings',
  {
    clusterId: uuid()
      .primaryKey()
      .references(() => slurmClusters.id, { onDelete: 'cascade' }),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    settings: jsonb().$type<PowerSavingSettings>().notNull(),
    /** SHA-256 of the valid tokens, the newest last; several while a new one is distributed. */
    tokenHashes: text().array().notNull(),
    /** When the newest token was issued. */
    tokenIssuedAt: at().notNull().defaultNow(),
    /** When the controllers used power saving for the first time; null while it is set up. */
    enabledAt: at(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [index().on(t.tenantId), index().using('gin', t.tokenHashes)],
)
export type SlurmPowerSaving = typeof slurmPowerSavings.$inferSelect

export const SLURM_POWER_VERBS = ['SUSPEND', 'RESUME'] as const
export type SlurmPowerVerb = (typeof SLURM_POWER_VERBS)[number]

/** The last request of slurmctld about each node. */
export const slurmPowerRequests = snakeCase.table(
  'slurm_power_requests',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    clusterId: uuid()
      .notNull()
      .references(() => slurmClusters.id, { onDelete: 'cascade' }),
    /** NodeName. */
    name: text().notNull(),
    nodeId: uuid()
      .notNull()
      .references(() => computeNodes.id, { onDelete: 'cascade' }),
    verb: text().$type<SlurmPowerVerb>().notNull(),
    requestedAt: at().notNull().default(sql`now()`),
    /** Null: refused, or the power run was deleted. A RESUME that waits has the run of the SUSPEND before it. */
    powerRunId: uuid().references(() => powerRuns.id, { onDelete: 'set null' }),
    /** Why nothing was sent to the node; null when a power run was started. */
    refusedReason: text(),
  },
  (t) => [unique().on(t.clusterId, t.name), index().on(t.tenantId), index().on(t.nodeId), index().on(t.powerRunId)],
)
export type SlurmPowerRequest = typeof slurmPowerRequests.$inferSelect
