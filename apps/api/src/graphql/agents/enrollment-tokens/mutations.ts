import { createEnrollmentToken, revokeEnrollmentToken } from '@muster/core/agents'
import { Conflict, NotFound } from '@muster/core/errors'
import { rowId, rowIdIfGiven } from '../../shared/ids.ts'
import { mutation } from '../../shared/mutation.ts'
import { EnrollmentToken } from './types.ts'

mutation('createAgentEnrollmentToken', {
  description: 'Creates a token with which one agent can register once. Its key needs no approval.',
  input: (t) => ({
    nodeId: t.id({ description: 'Node that the token is for. Default: any node without an agent, or a new node.' }),
    expiresInSeconds: t.int({ description: 'Lifetime, 60 to 2592000 (30 days). Default: 3600.' }),
    note: t.string({ description: 'Free text.' }),
  }),
  idempotent: true,
  payload: {
    token: { type: 'String', description: 'The token. It is returned only here and cannot be read again.' },
    agentEnrollmentToken: { type: EnrollmentToken, description: 'The stored properties of the token.' },
  },
  errors: [NotFound],
  resolve: async ({ nodeId, ...input }, { ctx }) => {
    const { token, enrollmentToken } = await createEnrollmentToken(ctx, {
      ...input,
      nodeId: rowIdIfGiven('ComputeNode', nodeId),
    })
    return { token, agentEnrollmentToken: enrollmentToken }
  },
})

mutation('revokeAgentEnrollmentToken', {
  description: 'Revokes an unused enrollment token.',
  input: (t) => ({ id: t.id({ required: true, description: 'ID of the enrollment token.' }) }),
  payload: { agentEnrollmentToken: { type: EnrollmentToken, description: 'The enrollment token.' } },
  errors: [Conflict, NotFound],
  resolve: async ({ id }, { ctx }) => ({
    agentEnrollmentToken: await revokeEnrollmentToken(ctx, { id: rowId('AgentEnrollmentToken', id) }),
  }),
})
