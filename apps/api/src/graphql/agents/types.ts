import {
  agentTrust,
  approveAgentChangeBlockedReason,
  deregisterAgentBlockedReason,
  drainAgentBlockedReason,
  keyFingerprint,
  type AgentReason as Reason,
  resetSequenceBlockedReason,
  resumeAgentBlockedReason,
  revokeAgentKeyBlockedReason,
} from '@muster/core/agents'
import { isOneOf } from '@muster/core/db'
import { builder } from '../../builder.ts'
import type { ApiContext } from '../../context.ts'
import { ComputeNode } from '../nodes/types.ts'
import { connectionTypes } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'
import { AgentKeyStatus, AgentReason, AgentState } from './enums.ts'
import { AgentBucket, AgentTransition, bucketsOf, transitionsOf } from './history.ts'

export const AgentKey = builder.drizzleNode('agentKeys', {
  name: 'AgentKey',
  description: 'A public key with which an agent signs, or wants to.',
  select: { columns: { id: true } },
  id: { column: (key) => key.id },
  fields: (t) => ({
    status: t.expose('status', { type: AgentKeyStatus, description: 'Whether what it signs counts.' }),
    publicKey: t.exposeString('publicKey', {
      description:
        'The Ed25519 key, 32 bytes in base64, as `muster-agent status` prints it on the machine: compare it before you approve it.',
    }),
    fingerprint: t.string({
      description: 'Its SHA-256, `SHA256:…`, by which messages call it.',
      select: { columns: { publicKey: true } },
      resolve: (key) => keyFingerprint(key.publicKey),
    }),
    node: t.relation('node', {
      nullable: true,
      description: 'The node that it speaks for; null: the first that registers with it.',
    }),
    agentId: t.exposeString('agentId', {
      nullable: true,
      description:
        'What an agent has to call itself that first comes with it unsigned; null: as the node is called, if there is one.',
    }),
    note: t.exposeString('note', { description: 'Free text of who allowed it; empty when there is none.' }),
    seenFrom: t.exposeString('seenFrom', { nullable: true, description: 'The address from which an agent came with it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was first seen, or entered.' }),
    createdByName: t.exposeString('createdByName', { description: 'Who entered it.' }),
    approvedAt: t.expose('approvedAt', { type: 'DateTime', nullable: true, description: 'When it was allowed.' }),
    approvedByName: t.exposeString('approvedByName', { nullable: true, description: 'Who allowed it.' }),
    revokedAt: t.expose('revokedAt', { type: 'DateTime', nullable: true, description: 'When it was revoked.' }),
    revokedByName: t.exposeString('revokedByName', { nullable: true, description: 'Who revoked it.' }),
    revokedReason: t.exposeString('revokedReason', { nullable: true, description: 'Why it was revoked.' }),
    revokeBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not revoke it; null: allowed.',
      select: { columns: { status: true } },
      resolve: (key, _args, { ctx }) => revokeAgentKeyBlockedReason(ctx.actor, key),
    }),
  }),
})

export const keyConnection = connectionTypes(AgentKey, 'AgentKey', 'agent keys')

const keysOf = loader(async ({ ctx }, nodeIds) => {
  const rows = await ctx.db.query.agentKeys.findMany({
    where: { tenantId: ctx.tenantId, RAW: (key) => isOneOf(key.nodeId, [...nodeIds]) },
    orderBy: { id: 'desc' },
  })
  return Map.groupBy(rows, (key) => key.nodeId!)
})

const waitingKeysOf = async (context: ApiContext, nodeId: string) =>
  ((await keysOf(context, nodeId)) ?? []).filter((key) => key.status === 'WAITING').length

/** Whether it is told, and not over yet, that two machines beat with the node's key. */
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
  description: 'What makes an agent credible.',
  values: {
    KEY: { description: 'Its key is allowed, and no other machine has it.' },
    SIGNATURE: { description: 'What it sends is signed with that key.' },
    HARDWARE: { description: 'It runs on the machine that was approved.' },
    CLOCK: { description: 'Its clock agrees with ours.' },
    SEQUENCE: { description: 'Nothing that it sent is missing.' },
  },
})

const AgentVerdict = builder.objectRef<ReturnType<typeof agentTrust>[number]>('AgentVerdict').implement({
  description: 'One reason to believe an agent, or not to.',
  fields: (t) => ({
    check: t.expose('check', { type: AgentCheck, description: 'What was looked at.' }),
    isOk: t.exposeBoolean('isOk', { nullable: true, description: 'Whether it is as it should be; null: not known yet.' }),
    text: t.exposeString('text', { description: 'What was found, and what to do if it is not as it should be.' }),
  }),
})

const LastHeartbeat = builder.drizzleObject('agentHeartbeats', {
  name: 'LastHeartbeat',
  description: 'What an agent said last, and how what it said came in so far.',
  select: { columns: { nodeId: true } },
  fields: (t) => ({
    receivedAt: t.expose('receivedAt', { type: 'DateTime', nullable: true, description: 'When it was accepted, by our clock.' }),
    skewMs: t.exposeInt('skewMs', { nullable: true, description: "How far the agent's clock runs ahead of ours, in ms." }),
    bootEpoch: t.expose('bootEpoch', {
      type: 'BigInt',
      nullable: true,
      description: 'Which start of the agent its sequence belongs to; 0 of agents that do not tell.',
    }),
    sequence: t.expose('sequence', { type: 'BigInt', nullable: true, description: 'Its number; the next must be greater.' }),
    accepted: t.expose('accepted', { type: 'BigInt', description: 'How many heartbeats were accepted so far.' }),
    missed: t.expose('missed', { type: 'BigInt', description: 'How many never came, as their numbers tell.' }),
    health: t.exposeString('health', {
      nullable: true,
      description: 'How the node itself says it is: healthy, degraded, unhealthy, draining, offline.',
    }),
    slurmState: t.exposeString('slurmState', { nullable: true, description: 'What Slurm calls it.' }),
    runningJobs: t.exposeInt('runningJobs', { nullable: true, description: 'How many jobs it works on.' }),
    cpuPercent: t.exposeFloat('cpuPercent', { nullable: true, description: 'Use of its processors, in percent.' }),
    memoryPercent: t.exposeFloat('memoryPercent', { nullable: true, description: 'Use of its memory, in percent.' }),
    gpusTotal: t.exposeInt('gpusTotal', { nullable: true, description: 'How many accelerators it counts.' }),
    gpusAvailable: t.exposeInt('gpusAvailable', { nullable: true, description: 'How many of them are free.' }),
  }),
})

export const Agent = builder.drizzleObject('agents', {
  name: 'Agent',
  description: 'The program on a node that tells us how it is, signed; and what we make of it.',
  select: { columns: { nodeId: true } },
  fields: (t) => ({
    node: t.relation('node', { description: 'The node that it speaks for.' }),
    agentId: t.exposeString('agentId', { description: 'The name that it calls itself by: `node_id` in its heartbeats.' }),
    cluster: t.exposeString('cluster', { description: 'The cluster that it says it is in.' }),
    state: t.expose('state', { type: AgentState, description: 'What we make of its heartbeats.' }),
    stateSince: t.expose('stateSince', { type: 'DateTime', description: 'Since when.' }),
    stateReason: t.field({
      type: AgentReason,
      description: 'Why.',
      select: { columns: { stateReason: true } },
      resolve: ({ stateReason }) => stateReason as Reason,
    }),
    offlineSuppressedAt: t.expose('offlineSuppressedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when it is silent together with so many others that it is not called OFFLINE: the fault may be ours.',
    }),
    version: t.exposeString('version', { nullable: true, description: "The agent's version." }),
    registeredAt: t.expose('registeredAt', { type: 'DateTime', description: 'When it registered last.' }),
    seenFrom: t.exposeString('seenFrom', { nullable: true, description: 'The address from which it registered.' }),
    drainRequestedAt: t.expose('drainRequestedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when somebody wants it drained; null: nobody does.',
    }),
    drainRequestedByName: t.exposeString('drainRequestedByName', { nullable: true, description: 'Who wants it drained.' }),
    drainReason: t.exposeString('drainReason', { nullable: true, description: 'Why, in the words of who asked.' }),
    fingerprint: t.exposeString('fingerprint', { nullable: true, description: 'The approved fingerprint of its hardware.' }),
    offeredFingerprint: t.exposeString('offeredFingerprint', {
      nullable: true,
      description: 'Another fingerprint that it shows and that waits for approval; its heartbeats do not count meanwhile.',
    }),
    lastHeartbeat: t.relation('beat', {
      nullable: true,
      type: LastHeartbeat,
      description: 'What its last accepted heartbeat said; null: it sent none since it registered.',
    }),
    report: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'Its last heartbeat as it was received; null until the first, and after a crash of the database until the next.',
      select: { with: { report: { columns: { report: true } } } },
      resolve: ({ report }) => report?.report ?? null,
    }),
    key: t.relation('key', { nullable: true, type: AgentKey, description: 'The key that it registered with last.' }),
    keys: t.field({
      type: [AgentKey],
      description: 'All keys that ever spoke for the node or want to, newest first.',
      resolve: async ({ nodeId }, _args, context) => (await keysOf(context, nodeId)) ?? [],
    }),
    trust: t.field({
      type: [AgentVerdict],
      description: 'Why to believe it, point by point.',
      select: {
        columns: { nodeId: true, fingerprint: true, offeredFingerprint: true },
        with: { key: true, beat: { columns: { skewMs: true, accepted: true, missed: true } } },
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
      description: 'Its last hundred changes of state, newest first.',
      resolve: async ({ nodeId }, _args, context) => (await transitionsOf(context, nodeId)) ?? [],
    }),
    drainBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not drain it; null: allowed.',
      select: { columns: { agentId: true, state: true, drainRequestedAt: true } },
      resolve: (agent, _args, { ctx }) => drainAgentBlockedReason(ctx.actor, agent),
    }),
    resumeBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not take a drain back; null: allowed.',
      select: { columns: { agentId: true, state: true, drainRequestedAt: true } },
      resolve: (agent, _args, { ctx }) => resumeAgentBlockedReason(ctx.actor, agent),
    }),
    deregisterBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not end it for good; null: allowed.',
      select: { columns: { agentId: true, state: true } },
      resolve: (agent, _args, { ctx }) => deregisterAgentBlockedReason(ctx.actor, agent),
    }),
    resetSequenceBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not let it count from 1 again; null: allowed.',
      select: { columns: { agentId: true, state: true } },
      resolve: (agent, _args, { ctx }) => resetSequenceBlockedReason(ctx.actor, agent),
    }),
    approveBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not approve what waits of it, or that nothing does; null: allowed.',
      select: { columns: { nodeId: true, agentId: true, state: true, offeredFingerprint: true } },
      resolve: async (agent, _args, context) =>
        approveAgentChangeBlockedReason(context.ctx.actor, agent, await waitingKeysOf(context, agent.nodeId)),
    }),
    history: t.field({
      type: [AgentBucket],
      description: 'The last day in steps of five minutes, oldest first; a step without a heartbeat is left out.',
      complexity: { field: 1, multiplier: 288 },
      resolve: async ({ nodeId }, _args, context) => (await bucketsOf(context, nodeId)) ?? [],
    }),
  }),
})

builder.drizzleObjectFields(ComputeNode, (t) => ({
  region: t.exposeString('region', {
    nullable: true,
    description: 'The region in which it stands, as its agent or a person said.',
  }),
  datacenter: t.exposeString('datacenter', {
    nullable: true,
    description: 'The data centre in which it stands, as its agent or a person said.',
  }),
  agent: t.relation('agent', { nullable: true, type: Agent, description: 'Its agent; null: it never had one.' }),
}))
