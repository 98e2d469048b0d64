import {
  agentAudit,
  allowAgentKey,
  approveAgentChange,
  deregisterAgent,
  drainAgent,
  resetAgentSequence,
  resumeAgent,
  revokeAgentKey,
} from '@muster/core/agents'
import { Conflict, NotFound } from '@muster/core/errors'
import { rowId, rowIdIfGiven } from '../shared/ids.ts'
import { type InputFields, mutation } from '../shared/mutation.ts'
import { Agent, AgentKey } from './types.ts'

const agentPayload = { agent: { type: Agent, description: 'The agent.' } }
const keyPayload = { agentKey: { type: AgentKey, description: 'The key.' } }
const errors = [Conflict, NotFound]
const nodeId = (t: InputFields) => t.id({ required: true, description: 'ID of the node that the agent reports for.' })

mutation('allowAgentKey', {
  description: 'Allows a public key. An agent with an allowed key can register without an enrollment token.',
  input: (t) => ({
    publicKey: t.string({
      required: true,
      description: 'Ed25519 public key, 32 bytes in base64, as printed by `muster-agent init`.',
    }),
    nodeId: t.id({ description: 'Node that the key is bound to. Default: the first node that registers with the key.' }),
    agentId: t.string({
      description:
        'Agent ID. Required only if an agent that does not sign its registration has another ID than the name of its node.',
    }),
    note: t.string({ description: 'Free text.' }),
  }),
  idempotent: true,
  payload: keyPayload,
  errors,
  resolve: async ({ nodeId, ...input }, { ctx }) => ({
    agentKey: await allowAgentKey(ctx, { ...input, nodeId: rowIdIfGiven('ComputeNode', nodeId) }),
  }),
})

mutation('revokeAgentKey', {
  description: 'Revokes an allowed key permanently, or rejects a waiting key.',
  input: (t) => ({
    id: t.id({ required: true, description: 'ID of the key.' }),
    reason: t.string({ required: true, description: 'Reason, stored with the key.' }),
  }),
  payload: keyPayload,
  errors,
  resolve: async ({ id, reason }, { ctx }) => ({
    agentKey: await revokeAgentKey(ctx, { id: rowId('AgentKey', id), reason }),
  }),
})

mutation('approveAgentChange', {
  action: agentAudit.approveChange,
  description: 'Approves a new key or new hardware of an agent, or both. Approving a key revokes the previous key.',
  input: (t) => ({
    nodeId: nodeId(t),
    keyId: t.id({ description: 'ID of the waiting key.' }),
    fingerprint: t.string({ description: 'Hardware fingerprint that the agent reports.' }),
  }),
  payload: agentPayload,
  errors,
  resolve: async ({ nodeId, keyId, fingerprint }, { ctx }) => ({
    agent: await approveAgentChange(ctx, {
      nodeId: rowId('ComputeNode', nodeId),
      keyId: rowIdIfGiven('AgentKey', keyId),
      fingerprint,
    }),
  }),
})

mutation('drainAgent', {
  description:
    'Requests that a node gets no new jobs, also from the Slurm clusters that have it. The agent is DRAINING, and DRAINED when it is known that no job is left. Until then, runs that change the node are refused.',
  input: (t) => ({ nodeId: nodeId(t), reason: t.string({ required: true, description: 'Reason, shown with the node.' }) }),
  payload: agentPayload,
  errors,
  resolve: async ({ nodeId, reason }, { ctx }) => ({
    agent: await drainAgent(ctx, { nodeId: rowId('ComputeNode', nodeId), reason }),
  }),
})

mutation('resumeAgent', {
  description:
    'Ends a drain that was requested with `drainAgent`, also in Slurm. A node that Slurm drains for other reasons stays drained until Slurm resumes it.',
  input: (t) => ({ nodeId: nodeId(t) }),
  payload: agentPayload,
  errors,
  resolve: async ({ nodeId }, { ctx }) => ({ agent: await resumeAgent(ctx, { nodeId: rowId('ComputeNode', nodeId) }) }),
})

mutation('deregisterAgent', {
  description: 'Deregisters an agent and revokes its keys. The node can be enrolled again with a new key.',
  input: (t) => ({ nodeId: nodeId(t), reason: t.string({ description: 'Reason, stored with the revoked keys.' }) }),
  payload: agentPayload,
  errors,
  resolve: async ({ nodeId, reason }, { ctx }) => ({
    agent: await deregisterAgent(ctx, { nodeId: rowId('ComputeNode', nodeId), reason }),
  }),
})

mutation('resetAgentSequence', {
  action: agentAudit.resetSequence,
  description:
    'Allows an agent that lost its sequence number to restart at 1. Heartbeats from before the reset are still rejected as replays.',
  input: (t) => ({ nodeId: nodeId(t) }),
  payload: agentPayload,
  errors,
  resolve: async ({ nodeId }, { ctx }) => ({
    agent: await resetAgentSequence(ctx, { nodeId: rowId('ComputeNode', nodeId) }),
  }),
})
