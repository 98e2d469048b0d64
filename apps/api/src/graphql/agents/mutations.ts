import {
  allowAgentKey,
  approveAgentChange,
  deregisterAgent,
  drainAgent,
  resetAgentSequence,
  resumeAgent,
  revokeAgentKey,
} from '@muster/core/agents'
import { Conflict, NotFound } from '@muster/core/errors'
import { builder } from '../../builder.ts'
import { COMMON } from '../shared/errors.ts'
import { rowId, rowIdIfGiven } from '../shared/ids.ts'
import { Agent, AgentKey } from './types.ts'

builder.mutationFields((t) => {
  const ofAgent = {
    type: Agent,
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
  }
  const nodeId = t.arg.id({ required: true, description: 'The node whose agent is meant.' })
  const agentOf = (id: string) => ({ nodeId: rowId('ComputeNode', id) })
  return {
    allowAgentKey: t.field({
      type: AgentKey,
      description: 'Put a public key on the list of those whose agents may register without a token.',
      authScopes: { authenticated: true },
      errors: { types: [...COMMON, Conflict, NotFound] },
      args: {
        publicKey: t.arg.string({
          required: true,
          description: 'The Ed25519 key: 32 bytes in base64, as `muster-agent init` prints it.',
        }),
        nodeId: t.arg.id({ description: 'The node that it speaks for; left out: the one that first registers with it.' }),
        agentId: t.arg.string({
          description:
            'What its agent calls itself, where that is not the name of the node: one that does not sign its registration has to come by this name.',
        }),
        note: t.arg.string({ description: 'What is to be known about it.' }),
      },
      resolve: (_root, { publicKey, nodeId, agentId, note }, { ctx }) =>
        allowAgentKey(ctx, { publicKey, nodeId: rowIdIfGiven('ComputeNode', nodeId), agentId, note }),
    }),
    revokeAgentKey: t.field({
      type: AgentKey,
      description: 'Let a key speak for nobody any more, or refuse one that waits. It never comes back.',
      authScopes: { authenticated: true },
      errors: { types: [...COMMON, Conflict, NotFound] },
      args: {
        id: t.arg.id({ required: true, description: 'Which key.' }),
        reason: t.arg.string({ required: true, description: 'Why; kept with the key.' }),
      },
      resolve: (_root, { id, reason }, { ctx }) => revokeAgentKey(ctx, { id: rowId('AgentKey', id), reason }),
    }),
    approveAgentChange: t.field({
      ...ofAgent,
      description:
        'Let an agent speak with another key than before, or from other hardware, or both. The key that it had is revoked.',
      args: {
        nodeId,
        keyId: t.arg.id({ description: 'The waiting key, as it was compared.' }),
        fingerprint: t.arg.string({ description: 'The hardware fingerprint that the agent shows, as it was compared.' }),
      },
      resolve: (_root, { nodeId, keyId, fingerprint }, { ctx }) =>
        approveAgentChange(ctx, { ...agentOf(nodeId), keyId: rowIdIfGiven('AgentKey', keyId), fingerprint }),
    }),
    drainAgent: t.field({
      ...ofAgent,
      description: 'Ask for a node to get no more work: DRAINING, and DRAINED when its last job has ended.',
      args: { nodeId, reason: t.arg.string({ required: true, description: 'Why; whoever looks at the node reads it.' }) },
      resolve: (_root, { nodeId, reason }, { ctx }) => drainAgent(ctx, { ...agentOf(nodeId), reason }),
    }),
    resumeAgent: t.field({
      ...ofAgent,
      description: 'Take back a drain. A node that Slurm drains stays so until Slurm resumes it.',
      args: { nodeId },
      resolve: (_root, { nodeId }, { ctx }) => resumeAgent(ctx, agentOf(nodeId)),
    }),
    deregisterAgent: t.field({
      ...ofAgent,
      description: 'End an agent for good: its keys are revoked. The node may be enrolled again, with a new key.',
      args: { nodeId, reason: t.arg.string({ description: 'Why.' }) },
      resolve: (_root, { nodeId, reason }, { ctx }) => deregisterAgent(ctx, { ...agentOf(nodeId), reason }),
    }),
    resetAgentSequence: t.field({
      ...ofAgent,
      description:
        'Let an agent count from 1 again, for those that forget where they were. What it sent before stays unacceptable.',
      args: { nodeId },
      resolve: (_root, { nodeId }, { ctx }) => resetAgentSequence(ctx, agentOf(nodeId)),
    }),
  }
})
