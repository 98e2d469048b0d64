import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, inArray } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { CredentialKind } from './enums.ts'
import { Credential, credentialConnection } from './types.ts'

const { credentials } = schema

builder.queryField('credentials', (t) =>
  t.drizzleConnection(
    {
      type: Credential,
      description: 'Credentials, in order of creation.',
      authScopes: { authenticated: true },
      args: { kind: t.arg({ type: [CredentialKind], description: 'Credentials of these kinds. Default: all kinds.' }) },
      ...PAGED,
      totalCount: (_root, { kind }, { ctx }) =>
        ctx.db.$count(credentials, and(visibleTo(ctx, credentials), kind ? inArray(credentials.kind, kind) : undefined)),
      resolve: (query, _root, { kind }, { ctx }) =>
        ctx.db.query.credentials.findMany(query({ where: { tenantId: ctx.tenantId, ...(kind ? { kind: { in: kind } } : {}) } })),
    },
    ...credentialConnection,
  ),
)
