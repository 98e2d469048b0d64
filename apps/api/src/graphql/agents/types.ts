import {
  agentTrust,
  approveAgentChangeBlockedReason,
  deregisterAgentBlockedReason,
  drainAgentBlockedReason,
  drainError,
  keyFingerprint,
  type AgentReason as Reason,
  resetSequenceBlockedReason,
  resumeAgentBlockedReason,
  revokeAgentKeyBlockedReason,
} from '@muster/core/agents'
import { isOneOf } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import type { ApiContext } from '../../context.ts'
import { actorField, nullableActorField } from '../access/people.ts'
import { ComputeNode } from '../nodes/types.ts'
import { connectionTypes } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'
import { AgentKeyStatus, AgentReason, AgentState, ReportedHealth } from './enums.ts'
import { AgentTransition, bucketsOf, HeartbeatBucket, transitionsOf } from './history.ts'
import { AgentReport } from './report.ts'

const { agentKeys } = schema

export const AgentKey = builder.drizzleNode('agentKeys', {
  name: 'AgentKey',
  description: 'A public key of an agent: allowed, waiting for approval, or revoked.',
  select: { columns: { id: true } },
  id: { column: (key) => key.id },
  fields: (t) => ({
    status: t.expose('status', { type: AgentKeyStatus, description: 'Whether heartbeats signed with the key are accepted.' }),
    publicKey: t.exposeString('publicKey', {
      description:
        'Ed25519 public key, 32 bytes in base64. `muster-agent status` prints it on the node, so that you can compare it before you approve it.',
    }),
    fingerprint: t.string({
      description: 'SHA-256 of the key, `SHA256:…`. Messages and audit entries identify the key by it.',
      select: { columns: { publicKey: true } },
      resolve: (key) => keyFingerprint(key.publicKey),
    }),
    node: t.relation('node', {
      nullable: true,
      description: 'Node that the key is bound to; null until an agent registers with it.',
    }),
    agentId: t.exposeString('agentId', {
      nullable: true,
      description: 'Agent ID that an unsigned registration with the key must have; null: the name of the node.',
    }),
    note: t.exposeString('note', { description: 'Free text; empty by default.' }),
    seenFrom: t.exposeString('seenFrom', { nullable: true, description: 'Source address of the registration with the key.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the key was first presented or added.' }),
    createdBy: t.field(actorField('created', 'The agent that presented the key, or who added it.')),
    approvedAt: t.expose('approvedAt', { type: 'DateTime', nullable: true, description: 'When the key was approved.' }),
    approvedBy: t.field(nullableActorField('approved', 'Actor that approved the key.')),
    revokedAt: t.expose('revokedAt', { type: 'DateTime', nullable: true, description: 'When the key was revoked.' }),
    revokedBy: t.field(nullableActorField('revoked', 'Actor that revoked the key.')),
    revokedReason: t.exposeString('revokedReason', { nullable: true, description: 'Reason of the revocation.' }),
    revokeBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot revoke the key; null when allowed.',
      select: { columns: { status: true } },
      resolve: (key, _args, { ctx }) => revokeAgentKeyBlockedReason(ctx.actor, key),
    }),
  }),
})

export const keyConnection = connectionTypes(AgentKey, 'AgentKey', 'agent keys')

const MAX_KEYS = 50

/** The keys of each node, at most 50: waiting keys first, then the newest. */
const keysOf = loader(async ({ ctx }, nodeIds) => {
  const rows = await ctx.db.query.agentKeys.findMany({
    where: {
      tenantId: ctx.tenantId,
      RAW: (key) => sql`${key.id} in (
        select k.id from unnest(${sql.param([...nodeIds])}::uuid[]) asked(node_id)
        cross join lateral (select x.id from ${agentKeys} x where x.node_id = asked.node_id
          order by (x.status = 'WAITING') desc, x.id desc limit ${MAX_KEYS}) k)`,
    },
    orderBy: (key) => [sql`${key.status} = 'WAITING' desc`, sql`${key.id} desc`],
  })
  return Map.groupBy(rows, (key) => key.nodeId!)
})

const waitingKeysOf = async (context: ApiContext, nodeId: string) =>
  ((await keysOf(context, nodeId)) ?? []).filter((key) => key.status === 'WAITING').length

/** Nodes with an open alert that another machine uses the same key. */
const isKeyShared = loader(async ({ ctx }, nodeIds) => {
  const rows = await ctx.db.query.alerts.findMany({
    columns: { nodeId: true },
    where: {
      tenantId: ctx.tenantId,
      kind: 'key_shared',
      resolvedAt: { isNull: true },
      RAW: (alert) => isOneOf(alert.nodeId, [...nodeIds]),
    },
  })
  return new Map(rows.map(({ nodeId }) => [nodeId!, true]))
})

const AgentCheck = builder.enumType('AgentCheck', {
  description: 'A trust check of an agent.',
  values: {
    KEY: { description: 'The key is allowed and used by no other machine.' },
    SIGNATURE: { description: 'Heartbeats are signed with the key.' },
    HARDWARE: { description: 'The agent runs on the approved hardware.' },
    CLOCK: { description: 'The clock of the node is correct.' },
    SEQUENCE: { description: 'No heartbeat is missing.' },
    ACCEPTANCE: { description: 'No heartbeat was rejected since the last accepted one.' },
  },
})

const AgentVerdict = builder.objectRef<ReturnType<typeof agentTrust>[number]>('AgentVerdict').implement({
  description: 'Result of a trust check of an agent.',
  fields: (t) => ({
    check: t.expose('check', { type: AgentCheck, description: 'The check.' }),
    isOk: t.exposeBoolean('isOk', {
      nullable: true,
      description: 'Whether the check passed; null when it cannot be decided yet.',
    }),
    message: t.exposeString('message', { description: 'What was found, and the next step if the check failed.' }),
  }),
})

type Counts = { total: number | null; available: number | null }
const AcceleratorAvailability = builder.objectRef<Counts>('AgentAcceleratorCounts').implement({
  description: 'Number of accelerators that an agent reports.',
  fields: (t) => ({
    total: t.exposeInt('total', { nullable: true, description: 'Total number; null when not reported.' }),
    available: t.exposeInt('available', {
      nullable: true,
      description: 'Number available to new jobs; null when not reported.',
    }),
  }),
})

const LastHeartbeat = builder.drizzleObject('agentHeartbeats', {
  name: 'LastHeartbeat',
  description: 'The last accepted heartbeat of an agent, and counts of its heartbeats. Values that were not reported are null.',
  select: { columns: { nodeId: true } },
  fields: (t) => ({
    receivedAt: t.expose('receivedAt', { type: 'DateTime', nullable: true, description: 'When the heartbeat was received.' }),
    skewMs: t.exposeInt('skewMs', {
      nullable: true,
      description: 'Clock of the agent minus clock of the database; positive when the agent is ahead.',
    }),
    bootEpoch: t.expose('bootEpoch', {
      type: 'BigInt',
      nullable: true,
      description: 'Number of the agent start that the sequence belongs to; 0 for agents without boot epochs.',
    }),
    sequence: t.expose('sequence', { type: 'BigInt', nullable: true, description: 'Sequence number. The next must be greater.' }),
    accepted: t.expose('accepted', { type: 'BigInt', description: 'Number of accepted heartbeats.' }),
    missed: t.expose('missed', { type: 'BigInt', description: 'Number of missing sequence numbers.' }),
    health: t.field({
      type: ReportedHealth,
      nullable: true,
      description: 'Health of the node.',
      select: { columns: { health: true } },
      resolve: ({ health }) => health as typeof ReportedHealth.$inferType | null,
    }),
    slurmState: t.exposeString('slurmState', { nullable: true, description: 'State of the node in Slurm, as Slurm writes it.' }),
    runningJobs: t.exposeInt('runningJobs', { nullable: true, description: 'Number of running jobs.' }),
    cpuPercent: t.exposeFloat('cpuPercent', { nullable: true, description: 'CPU utilization.' }),
    memoryPercent: t.exposeFloat('memoryPercent', { nullable: true, description: 'Memory utilization.' }),
    acceleratorCounts: t.field({
      type: AcceleratorAvailability,
      description: 'Number of accelerators.',
      select: { columns: { gpusTotal: true, gpusAvailable: true } },
      resolve: ({ gpusTotal, gpusAvailable }) => ({ total: gpusTotal, available: gpusAvailable }),
    }),
  }),
})

export const Agent = builder.drizzleObject('agents', {
  name: 'Agent',
  description: 'The agent of a node: it measures the node and sends signed heartbeats.',
  select: { columns: { nodeId: true } },
  fields: (t) => ({
    node: t.relation('node', { description: 'The node.' }),
    agentId: t.exposeString('agentId', { description: 'Name of the agent: `node_id` in its heartbeats. Unique in the tenant.' }),
    cluster: t.exposeString('cluster', { description: 'Cluster that the agent reports.' }),
    state: t.expose('state', { type: AgentState, description: 'State, derived from the heartbeats.' }),
    stateSince: t.expose('stateSince', { type: 'DateTime', description: 'When the state last changed.' }),
    stateReason: t.field({
      type: AgentReason,
      description: 'Reason of the last state change.',
      select: { columns: { stateReason: true } },
      resolve: ({ stateReason }) => stateReason as Reason,
    }),
    offlineSuppressedAt: t.expose('offlineSuppressedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when the state OFFLINE is suppressed because of a mass outage; null when it is not suppressed.',
    }),
    version: t.exposeString('version', { nullable: true, description: 'Version of the agent; null when not reported.' }),
    registeredAt: t.expose('registeredAt', { type: 'DateTime', description: 'When the agent last registered.' }),
    seenFrom: t.exposeString('seenFrom', { nullable: true, description: 'Source address of the last registration.' }),
    drainRequestedAt: t.expose('drainRequestedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a drain was requested; null when none is requested.',
    }),
    drainRequestedBy: t.field(nullableActorField('drainRequested', 'Actor that requested the drain.')),
    drainReason: t.exposeString('drainReason', { nullable: true, description: 'Reason of the drain.' }),
    drainError: t.string({
      nullable: true,
      description: 'Why the requested drain failed in Slurm; null when it did not. It can be requested again.',
      select: { columns: { slurmDrains: true } },
      resolve: drainError,
    }),
    fingerprint: t.exposeString('fingerprint', {
      nullable: true,
      description: 'Approved hardware fingerprint; null until reported.',
    }),
    offeredFingerprint: t.exposeString('offeredFingerprint', {
      nullable: true,
      description: 'Different hardware fingerprint that waits for approval. Heartbeats are rejected until it is approved.',
    }),
    lastHeartbeat: t.relation('heartbeat', {
      nullable: true,
      type: LastHeartbeat,
      description: 'The last accepted heartbeat; null until the first one after the registration.',
    }),
    report: t.field({
      type: AgentReport,
      nullable: true,
      description: 'All values of the last heartbeat; null until the first heartbeat, and after a crash of the database.',
      select: { with: { report: { columns: { report: true } } } },
      resolve: ({ report }) => report?.report ?? null,
    }),
    key: t.relation('key', { nullable: true, type: AgentKey, description: 'Key of the last registration.' }),
    keys: t.field({
      type: [AgentKey],
      description:
        'Keys of the agent: waiting keys first, then the newest. At most 50; `agentKeys(filter: { nodeId })` lists all.',
      resolve: async ({ nodeId }, _args, context) => (await keysOf(context, nodeId)) ?? [],
    }),
    trust: t.field({
      type: [AgentVerdict],
      description: 'Results of the trust checks, at most one per AgentCheck.',
      select: {
        columns: {
          ...{ nodeId: true, fingerprint: true, offeredFingerprint: true },
          ...{ rejectedAt: true, rejectionCode: true, rejectionMessage: true, rejectionCount: true },
        },
        with: { key: true, heartbeat: { columns: { skewMs: true, accepted: true, missed: true, receivedAt: true } } },
      },
      resolve: async (agent, _args, context) =>
        agentTrust({
          ...agent,
          isKeyWaiting: (await waitingKeysOf(context, agent.nodeId)) > 0,
          isKeyShared: (await isKeyShared(context, agent.nodeId)) ?? false,
        }),
    }),
    transitions: t.field({
      type: [AgentTransition],
      description: 'State changes, newest first. At most 100.',
      resolve: async ({ nodeId }, _args, context) => (await transitionsOf(context, nodeId)) ?? [],
    }),
    heartbeatHistory: t.field({
      type: [HeartbeatBucket],
      description:
        'Heartbeats of the last day in steps of five minutes, oldest first. At most 289; steps without a heartbeat are omitted.',
      complexity: { field: 1, multiplier: 288 },
      resolve: async ({ nodeId }, _args, context) => (await bucketsOf(context, nodeId)) ?? [],
    }),
    drainBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot drain the agent; null when allowed.',
      select: { columns: { agentId: true, state: true, drainRequestedAt: true, slurmDrains: true } },
      resolve: (agent, _args, { ctx }) => drainAgentBlockedReason(ctx.actor, agent),
    }),
    resumeBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot resume the agent; null when allowed.',
      select: { columns: { agentId: true, state: true, drainRequestedAt: true } },
      resolve: (agent, _args, { ctx }) => resumeAgentBlockedReason(ctx.actor, agent),
    }),
    deregisterBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot deregister the agent; null when allowed.',
      select: { columns: { agentId: true, state: true } },
      resolve: (agent, _args, { ctx }) => deregisterAgentBlockedReason(ctx.actor, agent),
    }),
    resetSequenceBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot reset the sequence; null when allowed.',
      select: { columns: { agentId: true, state: true } },
      resolve: (agent, _args, { ctx }) => resetSequenceBlockedReason(ctx.actor, agent),
    }),
    approveBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot approve a change, or that no change waits for approval; null when allowed.',
      select: { columns: { nodeId: true, agentId: true, state: true, offeredFingerprint: true } },
      resolve: async (agent, _args, context) =>
        approveAgentChangeBlockedReason(context.ctx.actor, agent, await waitingKeysOf(context, agent.nodeId)),
    }),
  }),
})

builder.drizzleObjectFields(ComputeNode, (t) => ({
  region: t.exposeString('region', {
    nullable: true,
    description: 'Region, reported by the agent or set by a user.',
  }),
  datacenter: t.exposeString('datacenter', {
    nullable: true,
    description: 'Data center, reported by the agent or set by a user.',
  }),
  agent: t.relation('agent', { nullable: true, type: Agent, description: 'Agent of the node; null when none has registered.' }),
}))
