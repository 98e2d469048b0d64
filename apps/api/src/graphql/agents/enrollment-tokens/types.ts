import { enrollmentTokenState, revokeEnrollmentTokenBlockedReason, type EnrollmentTokenState as State } from '@muster/core/agents'
import { builder } from '../../../builder.ts'
import { connectionTypes } from '../../shared/connections.ts'

const EnrollmentTokenState = builder.enumType('AgentEnrollmentTokenState', {
  description: 'Whether an agent may register with an enrollment token.',
  values: {
    USABLE: { description: 'It may, once.' },
    USED: { description: 'One did.' },
    EXPIRED: { description: 'None did in time.' },
    REVOKED: { description: 'Not any more: somebody revoked it before it was used.' },
  } satisfies Record<State, object>,
})

export const EnrollmentToken = builder.drizzleNode('agentEnrollmentTokens', {
  name: 'AgentEnrollmentToken',
  description: 'What lets one agent register, once. The token itself was shown when it was made, and is not stored.',
  select: { columns: { id: true, prefix: true, usedAt: true, expiresAt: true, revokedAt: true } },
  id: { column: (token) => token.id },
  fields: (t) => ({
    prefix: t.exposeString('prefix', { description: 'How it begins, by which messages and audit entries call it.' }),
    state: t.field({ type: EnrollmentTokenState, description: 'Whether it works.', resolve: enrollmentTokenState }),
    node: t.relation('node', {
      nullable: true,
      description: 'The node that may register with it; null: any that has no agent, or is not known yet.',
    }),
    note: t.exposeString('note', { description: 'What it is for; empty when nobody said.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    createdByName: t.exposeString('createdByName', { description: 'Who made it.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it stops working, if it was not used by then.' }),
    usedAt: t.expose('usedAt', { type: 'DateTime', nullable: true, description: 'When an agent registered with it.' }),
    usedByNode: t.relation('usedByNode', { nullable: true, description: 'The node whose agent registered with it.' }),
    usedFrom: t.exposeString('usedFrom', { nullable: true, description: 'The address from which that agent came.' }),
    revokedAt: t.expose('revokedAt', { type: 'DateTime', nullable: true, description: 'When it was revoked.' }),
    revokedByName: t.exposeString('revokedByName', { nullable: true, description: 'Who revoked it.' }),
    revokeBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not revoke it; null: allowed.',
      resolve: (token, _args, { ctx }) => revokeEnrollmentTokenBlockedReason(ctx.actor, token),
    }),
  }),
})

export const tokenConnection = connectionTypes(EnrollmentToken, 'AgentEnrollmentToken', 'enrollment tokens')
