import { sql } from 'drizzle-orm'
import { bigint, index, integer, jsonb, snakeCase, text, unique, uuid } from 'drizzle-orm/pg-core'
import { tenants, userRef } from '../access/tables.ts'
import { at, createdAt, id, updatedAt } from '../kernel/db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'

const nodeId = () => uuid().references(() => computeNodes.id, { onDelete: 'cascade' })

const tenantId = () =>
  uuid()
    .notNull()
    .references(() => tenants.id)

export const AGENT_STATES = ['PENDING', 'ACTIVE', 'STALE', 'DRAINING', 'DRAINED', 'OFFLINE', 'DEREGISTERED'] as const

export type AgentState = (typeof AGENT_STATES)[number]

/** WAITING: an agent came with it, and somebody has to approve it. REVOKED is for good: neither the key nor its row comes back. */
export const AGENT_KEY_STATUSES = ['ALLOWED', 'WAITING', 'REVOKED'] as const

export type AgentKeyStatus = (typeof AGENT_KEY_STATUSES)[number]

/** Public keys of agents: who may speak for a node. */
export const agentKeys = snakeCase.table(
  'agent_keys',
  {
    id: id(),
    tenantId: tenantId(),
    /** The node it speaks for. Null: for the one that first registers with it. */
    nodeId: nodeId(),
    /** 32 bytes in base64. */
    publicKey: text().notNull(),
    /** What an agent has to call itself that comes with it for the first time and proves nothing. Null: as its node is called. */
    agentId: text(),
    status: text().$type<AgentKeyStatus>().notNull(),
    note: text().notNull().default(''),
    /** The address from which an agent came with it. */
    seenFrom: text(),
    createdAt: createdAt(),
    createdById: userRef(),
    createdByName: text().notNull(),
    approvedAt: at(),
    approvedById: userRef(),
    approvedByName: text(),
    revokedAt: at(),
    revokedById: userRef(),
    revokedByName: text(),
    revokedReason: text(),
  },
  (t) => [unique().on(t.tenantId, t.publicKey), index().on(t.publicKey), index().on(t.nodeId), index().on(t.tenantId, t.id)],
)

export type AgentKey = typeof agentKeys.$inferSelect

/** A heartbeat that was refused, and the accepted one that it contradicts. */
export type DuplicateKeyEvidence = {
  at: string
  bootEpoch: number
  sequence: number
  bootId: string | null
  acceptedEpoch: number
  acceptedSequence: number
  acceptedBootId: string | null
}

/** The agent of a node, or the one that is gone since. Its state is moved by judge-agents along state-machine.ts, and by nobody else. */
export const agents = snakeCase.table(
  'agents',
  {
    nodeId: uuid()
      .primaryKey()
      .references(() => computeNodes.id, { onDelete: 'cascade' }),
    tenantId: tenantId(),
    /** What the wire calls node_id. Unique in the tenant; the same in two tenants is told apart by the key. */
    agentId: text().notNull(),
    /** What the wire calls cluster_id. */
    cluster: text().notNull(),
    state: text().$type<AgentState>().notNull().default('PENDING'),
    stateSince: at().notNull().defaultNow(),
    /** A word of state-machine.ts. */
    stateReason: text().notNull().default('registered'),
    /** The key that it registered with last. */
    keyId: uuid().references(() => agentKeys.id, { onDelete: 'set null' }),
    /** Approved hardware fingerprint; null until the first one is seen. */
    fingerprint: text(),
    /** Another one that it shows, which waits for approval; its heartbeats are not accepted meanwhile. */
    offeredFingerprint: text(),
    offeredFingerprintAt: at(),
    /** The last heartbeat that can only be of another machine with the same key, or of this one set back. */
    duplicateKeyEvidence: jsonb().$type<DuplicateKeyEvidence>(),
    version: text(),
    registeredAt: at().notNull().defaultNow(),
    seenFrom: text(),
    drainRequestedAt: at(),
    drainRequestedById: userRef(),
    drainRequestedByName: text(),
    drainReason: text(),
    /** Since when it is silent together with so many others that the silence is taken for ours: it is not called OFFLINE. */
    offlineSuppressedAt: at(),
  },
  (t) => [
    unique().on(t.tenantId, t.agentId),
    index().on(t.agentId),
    index().on(t.tenantId, t.state),
    index().on(t.tenantId, t.cluster),
    index().on(t.keyId),
    // What judge-agents asks twice a second: those that are anything but well.
    index().on(t.state).where(sql`(state <> 'ACTIVE' or drain_requested_at is not null) and state <> 'DEREGISTERED'`),
  ],
)

export type Agent = typeof agents.$inferSelect

/** Each lets one agent register once, without anybody having to approve its key. Shown once; only its SHA-256 stays. */
export const agentEnrollmentTokens = snakeCase.table(
  'agent_enrollment_tokens',
  {
    id: id(),
    tenantId: tenantId(),
    /** Null: for any node of the tenant that has no agent, and for one that is not known yet. */
    nodeId: nodeId(),
    prefix: text().notNull(),
    hash: text().notNull().unique(),
    note: text().notNull().default(''),
    createdAt: createdAt(),
    createdById: userRef(),
    createdByName: text().notNull(),
    expiresAt: at().notNull(),
    usedAt: at(),
    usedByNodeId: uuid().references(() => computeNodes.id, { onDelete: 'set null' }),
    usedFrom: text(),
    revokedAt: at(),
    revokedById: userRef(),
    revokedByName: text(),
  },
  (t) => [index().on(t.tenantId, t.id), index().on(t.nodeId), index().on(t.usedByNodeId)],
)

export type AgentEnrollmentToken = typeof agentEnrollmentTokens.$inferSelect

/** Every change of an agent's state: the node's timeline. */
export const agentTransitions = snakeCase.table(
  'agent_transitions',
  {
    /** In the order in which they happened, also within one statement. */
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    tenantId: tenantId(),
    nodeId: nodeId().notNull(),
    /** Null: the agent registered, as a new identity. */
    from: text().$type<AgentState>(),
    to: text().$type<AgentState>().notNull(),
    reason: text().notNull(),
    /** What it was judged by: received_at, seconds of silence, sequence, who asked. */
    evidence: jsonb().$type<Record<string, unknown>>().notNull().default(sql`'{}'::jsonb`),
    at: at().notNull(),
  },
  (t) => [index().on(t.nodeId, t.id), index().on(t.tenantId, t.id)],
)

export type AgentTransition = typeof agentTransitions.$inferSelect

/** How a tenant judges its agents. No row: the defaults, which stand in settings.ts too. */
export const agentSettings = snakeCase.table('agent_settings', {
  tenantId: uuid()
    .primaryKey()
    .references(() => tenants.id),
  /** Seconds between heartbeats that the API asks agents for. */
  heartbeatIntervalSeconds: integer().notNull().default(30),
  staleAfterSeconds: integer().notNull().default(120),
  offlineAfterSeconds: integer().notNull().default(300),
  /** More than this share of a tenant or cluster, and at least so many nodes, silent at once: taken for a fault of ours. */
  massOutagePercent: integer().notNull().default(50),
  massOutageMinNodes: integer().notNull().default(10),
  /** How many days OFFLINE until an agent is deregistered by itself. Null: never. */
  deregisterAfterDays: integer(),
  updatedAt: updatedAt(),
})

export type AgentSettings = typeof agentSettings.$inferSelect

/** A tenant, or one of its clusters, of which too much is silent at once. Open while `ended_at` is null. */
export const agentOutages = snakeCase.table(
  'agent_outages',
  {
    id: id(),
    tenantId: tenantId(),
    /** Null: the tenant as a whole. */
    cluster: text(),
    startedAt: at().notNull(),
    endedAt: at(),
    silent: integer().notNull(),
    total: integer().notNull(),
  },
  (t) => [index().on(t.tenantId, t.endedAt)],
)

export type AgentOutage = typeof agentOutages.$inferSelect
