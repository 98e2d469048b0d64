import { credentialPermissions } from '@muster/core/credentials'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, inArray } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { CredentialKind } from './enums.ts'
import { Credential, credentialConnection } from './types.ts'

const { credentials } = schema

const CredentialFilter = builder.inputType('CredentialFilter', {
  description: 'Filter of credentials.',
  fields: (t) => ({ kind: t.field({ type: [CredentialKind], description: 'One of these kinds; at most 500.' }) }),
})

builder.queryField('credentials', (t) =>
  t.drizzleConnection(
    {
      type: Credential,
      description: 'Credentials, in order of creation.',
      authScopes: { permission: credentialPermissions.read },
      args: { filter: t.arg({ type: CredentialFilter, description: 'Filter.' }) },
      ...PAGED,
      totalCount: (_root, { filter }, { ctx }) =>
        ctx.db.$count(
          credentials,
          and(visibleTo(ctx, credentials), filter?.kind ? inArray(credentials.kind, filter.kind) : undefined),
        ),
      resolve: (query, _root, { filter }, { ctx }) =>
        ctx.db.query.credentials.findMany(
          query({ where: { tenantId: ctx.tenantId, ...(filter?.kind ? { kind: { in: filter.kind } } : {}) } }),
        ),
    },
    ...credentialConnection,
  ),
)
