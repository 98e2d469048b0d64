import { enrollmentTokenState, revokeEnrollmentTokenBlockedReason, type EnrollmentTokenState as State } from '@muster/core/agents'
import { builder } from '../../../builder.ts'
import { actorField, nullableActorField } from '../../access/people.ts'
import { connectionTypes } from '../../shared/connections.ts'

const EnrollmentTokenState = builder.enumType('AgentEnrollmentTokenState', {
  description: 'Whether an agent can register with an enrollment token.',
  values: {
    USABLE: { description: 'An agent can register with the token.' },
    USED: { description: 'An agent has registered with the token.' },
    EXPIRED: { description: 'The token expired unused.' },
    REVOKED: { description: 'The token was revoked before it was used.' },
  } satisfies Record<State, object>,
})

export const EnrollmentToken = builder.drizzleNode('agentEnrollmentTokens', {
  name: 'AgentEnrollmentToken',
  description: 'A token with which one agent can register once. The token itself is not stored.',
  select: { columns: { id: true, prefix: true, usedAt: true, expiresAt: true, revokedAt: true } },
  id: { column: (token) => token.id },
  fields: (t) => ({
    prefix: t.exposeString('prefix', {
      description: 'First characters of the token. Messages and audit entries identify the token by them.',
    }),
    state: t.field({
      type: EnrollmentTokenState,
      description: 'Whether an agent can register with the token.',
      resolve: enrollmentTokenState,
    }),
    node: t.relation('node', {
      nullable: true,
      description: 'Node that the token is for; null: any node without an agent, or a new node.',
    }),
    note: t.exposeString('note', { description: 'Free text; empty by default.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the token was created.' }),
    createdBy: t.field(actorField('created', 'Actor that created the token.')),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the token expires if it is not used.' }),
    usedAt: t.expose('usedAt', { type: 'DateTime', nullable: true, description: 'When an agent registered with the token.' }),
    usedByNode: t.relation('usedByNode', { nullable: true, description: 'Node of the agent that registered with the token.' }),
    usedFrom: t.exposeString('usedFrom', { nullable: true, description: 'Source address of the registration.' }),
    revokedAt: t.expose('revokedAt', { type: 'DateTime', nullable: true, description: 'When the token was revoked.' }),
    revokedBy: t.field(nullableActorField('revoked', 'Actor that revoked the token.')),
    revokeBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot revoke the token; null when allowed.',
      resolve: (token, _args, { ctx }) => revokeEnrollmentTokenBlockedReason(ctx.actor, token),
    }),
  }),
})

export const tokenConnection = connectionTypes(EnrollmentToken, 'AgentEnrollmentToken', 'enrollment tokens')
