import {
  allowAgentKey,
  approveAgentChange,
  createEnrolmentToken,
  deregisterAgent,
  drainAgent,
  resetAgentSequence,
  resumeAgent,
  revokeAgentKey,
} from '@muster/core/agents'
import type { schema } from '@muster/core/db'
import { Conflict, NotFound } from '@muster/core/errors'
import { builder } from '../builder.ts'
import { Agent, AgentKey } from './agents.ts'
import { COMMON } from './errors.ts'
import { rowId, rowIdIfGiven } from './ids.ts'

type Token = typeof schema.agentEnrolmentTokens.$inferSelect

const CreatedAgentEnrolmentToken = builder
  .objectRef<{ token: string; enrolmentToken: Token }>('CreatedAgentEnrolmentToken')
  .implement({
    description: 'A new enrolment token.',
    fields: (t) => ({
      token: t.exposeString('token', {
        description: 'The token itself. It is shown only here; the agent on the machine registers with it, once.',
      }),
      prefix: t.string({
        description: 'How it begins, by which audit entries call it.',
        resolve: (made) => made.enrolmentToken.prefix,
      }),
      expiresAt: t.field({
        type: 'DateTime',
        description: 'When it stops working, if it was not used by then.',
        resolve: (made) => made.enrolmentToken.expiresAt,
      }),
    }),
  })

builder.mutationFields((t) => {
  const ofAgent = {
    type: Agent,
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
  }
  const nodeId = t.arg.id({ required: true, description: 'The node whose agent is meant.' })
  const agentOf = (id: string) => ({ nodeId: rowId('ComputeNode', id) })
  return {
    createAgentEnrolmentToken: t.field({
      type: CreatedAgentEnrolmentToken,
      description: 'Make a token with which one agent may register, once, without anybody having to allow its key.',
      authScopes: { authenticated: true },
      errors: { types: [...COMMON, NotFound] },
      args: {
        nodeId: t.arg.id({
          description: 'The node that may register with it; left out: any that has no agent, or is not known yet.',
        }),
        expiresInMinutes: t.arg.int({ description: 'Minutes until it stops working, at most 30 days; left out: 60.' }),
        note: t.arg.string({ description: 'What it is for.' }),
      },
      resolve: (_root, { nodeId, expiresInMinutes, note }, { ctx }) =>
        createEnrolmentToken(ctx, { nodeId: rowIdIfGiven('ComputeNode', nodeId), expiresInMinutes, note }),
    }),
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
        note: t.arg.string({ description: 'What is to be known about it.' }),
      },
      resolve: (_root, { publicKey, nodeId, note }, { ctx }) =>
        allowAgentKey(ctx, { publicKey, nodeId: rowIdIfGiven('ComputeNode', nodeId), note }),
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
