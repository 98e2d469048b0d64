import { sql } from 'drizzle-orm'
import { bigint, index, integer, jsonb, snakeCase, text, unique, uuid } from 'drizzle-orm/pg-core'
import { tenants, userRef } from '../access/tables.ts'
import { at, createdAt, id, updatedAt } from '../kernel/db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'
import type { SlurmItemResult } from '../slurm-actions/tables.ts'

const nodeId = () => uuid().references(() => computeNodes.id, { onDelete: 'cascade' })

const tenantId = () =>
  uuid()
    .notNull()
    .references(() => tenants.id)

export const AGENT_STATES = ['PENDING', 'ACTIVE', 'STALE', 'DRAINING', 'DRAINED', 'OFFLINE', 'DEREGISTERED'] as const

export type AgentState = (typeof AGENT_STATES)[number]

/** WAITING: an agent offered it and it needs approval. REVOKED is permanent. */
export const AGENT_KEY_STATUSES = ['ALLOWED', 'WAITING', 'REVOKED'] as const

export type AgentKeyStatus = (typeof AGENT_KEY_STATUSES)[number]

/** Public keys that sign heartbeats of nodes. */
export const agentKeys = snakeCase.table(
  'agent_keys',
  {
    id: id(),
    tenantId: tenantId(),
    /** The key's node. Null: the first node that registers with it. */
    nodeId: nodeId(),
    /** 32 bytes in base64. */
    publicKey: text().notNull(),
    /** The agent id that an unsigned first registration must use. Null: the node's name. */
    agentId: text(),
    status: text().$type<AgentKeyStatus>().notNull(),
    note: text().notNull().default(''),
    /** The address from which an agent offered it. */
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

/** A rejected heartbeat, and the accepted one that it contradicts. */
export type DuplicateKeyEvidence = {
  at: string
  bootEpoch: number
  sequence: number
  bootId: string | null
  acceptedEpoch: number
  acceptedSequence: number
  acceptedBootId: string | null
}

/** A drain that Muster requested in Slurm. */
export type SlurmDrain = {
  clusterId: string
  /** NodeName. */
  name: string
  /** As Slurm stores it, with the mark of the action. Only a drain with this reason is ended. */
  reason: string
  actionId: string
  /** Why the action failed, and a sentence for users. */
  failure?: { result: SlurmItemResult; message: string }
}

/**
 * The agent of a node; DEREGISTERED when it is gone. apply-state-transitions.ts changes its state by the rules of
 * state-machine.ts.
 */
export const agents = snakeCase.table(
  'agents',
  {
    nodeId: uuid()
      .primaryKey()
      .references(() => computeNodes.id, { onDelete: 'cascade' }),
    tenantId: tenantId(),
    /** `node_id` of the protocol. Unique in the tenant; the key distinguishes equal ids of two tenants. */
    agentId: text().notNull(),
    /** `cluster_id` of the protocol. */
    cluster: text().notNull(),
    state: text().$type<AgentState>().notNull().default('PENDING'),
    stateSince: at().notNull().defaultNow(),
    /** An AgentReason of state-machine.ts. */
    stateReason: text().notNull().default('registered'),
    /** The key of its last registration. */
    keyId: uuid().references(() => agentKeys.id, { onDelete: 'set null' }),
    /** Approved hardware fingerprint; null until the first one is reported. */
    fingerprint: text(),
    /** Another fingerprint that waits for approval; heartbeats are rejected meanwhile. */
    offeredFingerprint: text(),
    offeredFingerprintAt: at(),
    /** The last heartbeat that proves a second machine with the same key, or a restored snapshot. */
    duplicateKeyEvidence: jsonb().$type<DuplicateKeyEvidence>(),
    version: text(),
    registeredAt: at().notNull().defaultNow(),
    seenFrom: text(),
    drainRequestedAt: at(),
    drainRequestedById: userRef(),
    drainRequestedByName: text(),
    drainReason: text(),
    /** Drains in Slurm that belong to the request; empty when no cluster has the node. */
    slurmDrains: jsonb().$type<SlurmDrain[]>().notNull().default(sql`'[]'::jsonb`),
    /** The last rejected heartbeat, and how many were rejected since the last accepted one. Anybody can send those without a valid signature. */
    rejectedAt: at(),
    rejectionCode: text(),
    rejectionMessage: text(),
    rejectionCount: integer().notNull().default(0),
    /** Since when it is part of a mass outage, during which it does not become OFFLINE. */
    offlineSuppressedAt: at(),
  },
  (t) => [
    unique().on(t.tenantId, t.agentId),
    index().on(t.agentId),
    index().on(t.tenantId, t.state),
    index().on(t.tenantId, t.cluster),
    index().on(t.keyId),
    // The reconciler's query, twice a second: agents that are not simply ACTIVE.
    index().on(t.state).where(sql`(state <> 'ACTIVE' or drain_requested_at is not null) and state <> 'DEREGISTERED'`),
  ],
)

export type Agent = typeof agents.$inferSelect

/** A token lets one agent register once without approval of its key. It is shown once; only its SHA-256 is stored. */
export const agentEnrollmentTokens = snakeCase.table(
  'agent_enrollment_tokens',
  {
    id: id(),
    tenantId: tenantId(),
    /** Null: any node of the tenant without an agent, or a new one. */
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

/** Every change of an agent's state: the node's state history. */
export const agentTransitions = snakeCase.table(
  'agent_transitions',
  {
    /** Order of the transitions, also within one statement. */
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    tenantId: tenantId(),
    nodeId: nodeId().notNull(),
    /** Null: a new agent registered. */
    from: text().$type<AgentState>(),
    to: text().$type<AgentState>().notNull(),
    reason: text().notNull(),
    /** The facts behind it: received_at, seconds since then, sequence, requester. */
    evidence: jsonb().$type<Record<string, unknown>>().notNull().default(sql`'{}'::jsonb`),
    at: at().notNull(),
  },
  (t) => [index().on(t.nodeId, t.id), index().on(t.tenantId, t.id)],
)

export type AgentTransition = typeof agentTransitions.$inferSelect

/** A tenant's thresholds for its agents. Without a row the defaults apply, which settings.ts has too. */
export const agentSettings = snakeCase.table('agent_settings', {
  tenantId: uuid()
    .primaryKey()
    .references(() => tenants.id),
  /** Seconds between heartbeats, sent to agents by the API. */
  heartbeatIntervalSeconds: integer().notNull().default(30),
  staleAfterSeconds: integer().notNull().default(120),
  offlineAfterSeconds: integer().notNull().default(300),
  /** A mass outage is more than this share of a tenant or cluster, and at least this many nodes, silent at once. */
  massOutagePercent: integer().notNull().default(50),
  massOutageMinNodes: integer().notNull().default(10),
  /** Days OFFLINE until an agent is deregistered automatically. Null: never. */
  deregisterAfterDays: integer(),
  updatedAt: updatedAt(),
})

export type AgentSettings = typeof agentSettings.$inferSelect

/** Mass outages of tenants or clusters. Open while `ended_at` is null. */
export const agentOutages = snakeCase.table(
  'agent_outages',
  {
    id: id(),
    tenantId: tenantId(),
    /** Null: the whole tenant. */
    cluster: text(),
    startedAt: at().notNull(),
    endedAt: at(),
    silent: integer().notNull(),
    total: integer().notNull(),
  },
  (t) => [index().on(t.tenantId, t.endedAt)],
)

export type AgentOutage = typeof agentOutages.$inferSelect
