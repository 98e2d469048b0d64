import {
  createEnrolmentToken,
  enrolmentTokenState,
  revokeEnrolmentToken,
  type EnrolmentTokenState as State,
  whyNotRevokeEnrolmentToken,
} from '@muster/core/agents'
import { schema, visibleTo } from '@muster/core/db'
import { Conflict, NotFound } from '@muster/core/errors'
import { and, gt, isNull, type SQL, sql } from 'drizzle-orm'
import { builder } from '../builder.ts'
import { connectionTypes, PAGED } from './connections.ts'
import { COMMON } from './errors.ts'
import { rowId, rowIdIfGiven } from './ids.ts'

const { agentEnrolmentTokens } = schema

const EnrolmentTokenState = builder.enumType('AgentEnrolmentTokenState', {
  description: 'Whether an agent may register with an enrolment token.',
  values: {
    USABLE: { description: 'It may, once.' },
    USED: { description: 'One did.' },
    EXPIRED: { description: 'None did in time.' },
    REVOKED: { description: 'Not any more: somebody revoked it before it was used.' },
  } satisfies Record<State, object>,
})

const EnrolmentToken = builder.drizzleNode('agentEnrolmentTokens', {
  name: 'AgentEnrolmentToken',
  description: 'What lets one agent register, once. The token itself was shown when it was made, and is not stored.',
  select: { columns: { id: true, prefix: true, usedAt: true, expiresAt: true, revokedAt: true } },
  id: { column: (token) => token.id },
  fields: (t) => ({
    prefix: t.exposeString('prefix', { description: 'How it begins, by which messages and audit entries call it.' }),
    state: t.field({ type: EnrolmentTokenState, description: 'Whether it works.', resolve: enrolmentTokenState }),
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
      resolve: (token, _args, { ctx }) => whyNotRevokeEnrolmentToken(ctx.actor, token),
    }),
  }),
})

const tokenConnection = connectionTypes(EnrolmentToken, 'AgentEnrolmentToken', 'enrolment tokens')
const usable = (token: typeof agentEnrolmentTokens, isOver: boolean | null | undefined): SQL =>
  isOver ? sql`true` : and(isNull(token.usedAt), isNull(token.revokedAt), gt(token.expiresAt, sql`now()`))!

builder.queryField('agentEnrolmentTokens', (t) =>
  t.drizzleConnection(
    {
      type: EnrolmentToken,
      description: 'Tokens with which agents may register, the newest first.',
      authScopes: { authenticated: true },
      args: { isOver: t.arg.boolean({ description: 'With those that are used, expired or revoked.' }) },
      ...PAGED,
      totalCount: (_root, { isOver }, { ctx }) =>
        ctx.db.$count(agentEnrolmentTokens, and(visibleTo(ctx, agentEnrolmentTokens), usable(agentEnrolmentTokens, isOver))),
      resolve: (query, _root, { isOver }, { ctx }) =>
        ctx.db.query.agentEnrolmentTokens.findMany(
          query({ where: { tenantId: ctx.tenantId, RAW: (token) => usable(token, isOver) }, orderBy: { id: 'desc' } }),
        ),
    },
    ...tokenConnection,
  ),
)

type Created = Awaited<ReturnType<typeof createEnrolmentToken>>
const CreatedEnrolmentToken = builder.objectRef<Created>('CreatedAgentEnrolmentToken').implement({
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
    enrolmentToken: t.expose('enrolmentToken', { type: EnrolmentToken, description: 'What lists show of it from now on.' }),
  }),
})

builder.mutationFields((t) => ({
  createAgentEnrolmentToken: t.field({
    type: CreatedEnrolmentToken,
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
  revokeAgentEnrolmentToken: t.field({
    type: EnrolmentToken,
    description: 'Let nobody register with a token any more that nobody has used yet.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { id: t.arg.id({ required: true, description: 'Which token.' }) },
    resolve: (_root, { id }, { ctx }) => revokeEnrolmentToken(ctx, { id: rowId('AgentEnrolmentToken', id) }),
  }),
}))
