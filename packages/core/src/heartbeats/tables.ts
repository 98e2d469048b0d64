import { bigint, doublePrecision, integer, json, primaryKey, real, snakeCase, text, uuid } from 'drizzle-orm/pg-core'
import { agents } from '../agents/tables.ts'
import { at } from '../kernel/db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'

const count = () => bigint({ mode: 'number' }).notNull().default(0)

const _nodeId = () => uuid().references(() => computeNodes.id, { onDelete: 'cascade' })

/** Slurm's drain state as the node reports it. */
export type ReportedDrain = 'DRAINING' | 'DRAINED'

/**
 * What is written at every heartbeat: one narrow row a node, in pages half empty and without an index on anything that changes, so
 * that an update stays in its page and touches no index (HOT). Its migration sets the fill factor.
 */
export const agentHeartbeats = snakeCase.table('agent_heartbeats', {
  nodeId: uuid()
    .primaryKey()
    .references(() => agents.nodeId, { onDelete: 'cascade' }),
  /** Both of the last accepted heartbeat; the next must be greater. Null: none yet. */
  bootEpoch: bigint({ mode: 'number' }),
  sequence: bigint({ mode: 'number' }),
  /** A heartbeat that says it was made at this time or before is a replay: set when the sequence may begin anew. */
  notBefore: at(),
  /** By the database's clock. */
  receivedAt: at(),
  /** By the agent's clock, and how far that runs ahead of ours, in ms. */
  agentTime: at(),
  skewMs: integer(),
  /** When it was measured, which is earlier for one that could not be sent at once. */
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
  /** The five minutes that go on, and sums over their heartbeats; they move to agent_heartbeat_history when the next five begin. */
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

/** Five minutes of a node, for sparklines. Partitioned by day: keep-agent-history makes the days to come and drops those past. */
export const agentHeartbeatHistory = snakeCase.table(
  'agent_heartbeat_history',
  {
    nodeId: uuid().notNull(),
    bucketAt: at().notNull(),
    beats: integer().notNull(),
    missed: integer().notNull(),
    /** Mean of the heartbeats that said one. */
    cpuPercent: real(),
    memoryPercent: real(),
    maxSkewMs: integer(),
  },
  (t) => [primaryKey({ columns: [t.nodeId, t.bucketAt] })],
)

export type AgentHeartbeatBucket = typeof agentHeartbeatHistory.$inferSelect

/** One row, touched every second by every API process: from it judge-agents knows whether nodes could be heard at all. */
export const ingestLiveness = snakeCase.table('ingest_liveness', {
  id: integer().primaryKey().default(1),
  aliveAt: at().notNull(),
  /** Since when it has been alive without a break. */
  upSince: at().notNull(),
  /** When the last break began. */
  downFrom: at(),
})
