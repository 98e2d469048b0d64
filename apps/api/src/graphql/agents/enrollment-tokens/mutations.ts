import { createEnrollmentToken, revokeEnrollmentToken } from '@muster/core/agents'
import { Conflict, NotFound } from '@muster/core/errors'
import { builder } from '../../../builder.ts'
import { COMMON } from '../../shared/errors.ts'
import { rowId, rowIdIfGiven } from '../../shared/ids.ts'
import { CreatedEnrollmentToken, EnrollmentToken } from './types.ts'

builder.mutationFields((t) => ({
  createAgentEnrollmentToken: t.field({
    type: CreatedEnrollmentToken,
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
      createEnrollmentToken(ctx, { nodeId: rowIdIfGiven('ComputeNode', nodeId), expiresInMinutes, note }),
  }),
  revokeAgentEnrollmentToken: t.field({
    type: EnrollmentToken,
    description: 'Let nobody register with a token any more that nobody has used yet.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { id: t.arg.id({ required: true, description: 'Which token.' }) },
    resolve: (_root, { id }, { ctx }) => revokeEnrollmentToken(ctx, { id: rowId('AgentEnrollmentToken', id) }),
  }),
}))
