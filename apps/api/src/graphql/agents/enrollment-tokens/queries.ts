import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, gt, isNull, type SQL, sql } from 'drizzle-orm'
import { builder } from '../../../builder.ts'
import { PAGED } from '../../shared/connections.ts'
import { EnrollmentToken, tokenConnection } from './types.ts'

const { agentEnrollmentTokens } = schema

const usable = (token: typeof agentEnrollmentTokens, isOver: boolean | null | undefined): SQL =>
  isOver ? sql`true` : and(isNull(token.usedAt), isNull(token.revokedAt), gt(token.expiresAt, sql`now()`))!

builder.queryField('agentEnrollmentTokens', (t) =>
  t.drizzleConnection(
    {
      type: EnrollmentToken,
      description: 'Tokens with which agents may register, the newest first.',
      authScopes: { authenticated: true },
      args: { isOver: t.arg.boolean({ description: 'With those that are used, expired or revoked.' }) },
      ...PAGED,
      totalCount: (_root, { isOver }, { ctx }) =>
        ctx.db.$count(agentEnrollmentTokens, and(visibleTo(ctx, agentEnrollmentTokens), usable(agentEnrollmentTokens, isOver))),
      resolve: (query, _root, { isOver }, { ctx }) =>
        ctx.db.query.agentEnrollmentTokens.findMany(
          query({ where: { tenantId: ctx.tenantId, RAW: (token) => usable(token, isOver) }, orderBy: { id: 'desc' } }),
        ),
    },
    ...tokenConnection,
  ),
)
