import { tenantPermissions } from '@muster/core/access'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, gt, isNull, type SQL, sql } from 'drizzle-orm'
import { builder } from '../../../builder.ts'
import { PAGED } from '../../shared/connections.ts'
import { EnrollmentToken, tokenConnection } from './types.ts'

const { agentEnrollmentTokens } = schema

const usable = (token: typeof agentEnrollmentTokens, includeEnded: boolean | null | undefined): SQL =>
  includeEnded ? sql`true` : and(isNull(token.usedAt), isNull(token.revokedAt), gt(token.expiresAt, sql`now()`))!

builder.queryField('agentEnrollmentTokens', (t) =>
  t.drizzleConnection(
    {
      type: EnrollmentToken,
      description: 'Enrollment tokens, newest first.',
      authScopes: { permission: tenantPermissions.read },
      args: { includeEnded: t.arg.boolean({ description: 'Include used, expired and revoked tokens. Default: false.' }) },
      ...PAGED,
      totalCount: (_root, { includeEnded }, { ctx }) =>
        ctx.db.$count(
          agentEnrollmentTokens,
          and(visibleTo(ctx, agentEnrollmentTokens), usable(agentEnrollmentTokens, includeEnded)),
        ),
      resolve: (query, _root, { includeEnded }, { ctx }) =>
        ctx.db.query.agentEnrollmentTokens.findMany(
          query({ where: { tenantId: ctx.tenantId, RAW: (token) => usable(token, includeEnded) }, orderBy: { id: 'desc' } }),
        ),
    },
    ...tokenConnection,
  ),
)
