import { bigint, doublePrecision, integer, json, primaryKey, real, snakeCase, text, uuid } from 'drizzle-orm/pg-core'
import { agents } from '../agents/tables.ts'
import { at } from '../kernel/db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'

const count = () => bigint({ mode: 'number' }).notNull().default(0)

const _nodeId = () => uuid().references(() => computeNodes.id, { onDelete: 'cascade' })

/** Slurm's drain state as the node reports it. */
export type ReportedDrain = 'DRAINING' | 'DRAINED'

/**
 * One narrow row per node, updated at every heartbeat. Half-empty pages and no index on changing columns keep updates in their page and
 * out of the indexes (HOT). The migration sets the fill factor.
 */
export const agentHeartbeats = snakeCase.table('agent_heartbeats', {
  nodeId: uuid()
    .primaryKey()
    .references(() => agents.nodeId, { onDelete: 'cascade' }),
  /** Position of the last accepted heartbeat; the next one must be greater. Null: none yet. */
  bootEpoch: bigint({ mode: 'number' }),
  sequence: bigint({ mode: 'number' }),
  /** Heartbeats with this or an earlier time are replays. Set when the sequence may restart. */
  notBefore: at(),
  /** By the database's clock. */
  receivedAt: at(),
  /** By the agent's clock; `skew_ms` is its lead over the database's clock. */
  agentTime: at(),
  skewMs: integer(),
  /** Measurement time; earlier than `agent_time` for a heartbeat that was sent late. */
  measuredAt: at(),
  /**
   * Intervals between measurements by the agent's clock, in seconds: their number, mean, and sum of squared deviations (Welford).
   */
  intervals: count(),
  intervalMean: doublePrecision().notNull().default(0),
  intervalM2: doublePrecision('interval_m2').notNull().default(0),
  accepted: count(),
  /** Sequence numbers that never arrived. */
  missed: count(),
  health: text(),
  slurmState: text(),
  reportedDrain: text().$type<ReportedDrain>(),
  runningJobs: integer(),
  cpuPercent: real(),
  memoryPercent: real(),
  gpusTotal: integer(),
  gpusAvailable: integer(),
  /** Devices that the node reports as lost. */
  lostAccelerators: integer().notNull().default(0),
  /** The current five minutes and sums over their heartbeats. They move to agent_heartbeat_history when the next five begin. */
  bucketAt: at(),
  bucketHeartbeats: integer().notNull().default(0),
  bucketMissed: integer().notNull().default(0),
  bucketCpuSum: real().notNull().default(0),
  bucketMemorySum: real().notNull().default(0),
  bucketMaxSkewMs: integer().notNull().default(0),
})

export type AgentHeartbeat = typeof agentHeartbeats.$inferSelect

/** The last complete heartbeat as received. Unlogged: after a crash of Postgres it is missing until the next one. */
export const agentReports = snakeCase.table('agent_reports', {
  nodeId: uuid()
    .primaryKey()
    .references(() => agents.nodeId, { onDelete: 'cascade' }),
  report: json().$type<Record<string, unknown>>().notNull(),
  receivedAt: at().notNull(),
})

/** Five minutes of a node, for sparklines. Partitioned by day; roll-up-heartbeat-history.ts creates and drops the partitions. */
export const agentHeartbeatHistory = snakeCase.table(
  'agent_heartbeat_history',
  {
    nodeId: uuid().notNull(),
    bucketAt: at().notNull(),
    beats: integer().notNull(),
    missed: integer().notNull(),
    /** Mean over the heartbeats that report it. */
    cpuPercent: real(),
    memoryPercent: real(),
    maxSkewMs: integer(),
  },
  (t) => [primaryKey({ columns: [t.nodeId, t.bucketAt] })],
)

export type AgentHeartbeatBucket = typeof agentHeartbeatHistory.$inferSelect

/** One row that every API process updates every second. It shows whether heartbeats could arrive. */
export const ingestLiveness = snakeCase.table('ingest_liveness', {
  id: integer().primaryKey().default(1),
  aliveAt: at().notNull(),
  /** Start of the current uninterrupted period. */
  upSince: at().notNull(),
  /** Start of the last interruption. */
  downFrom: at(),
})
