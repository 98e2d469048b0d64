import { schema } from '@muster/core/registry'
import { and, eq, isNotNull } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import type { Caller } from '../../context.ts'
import { connectionTypes } from '../shared/connections.ts'
import { RoleType } from './enums.ts'

const { accounts, tenants } = schema

export const Viewer = builder.objectRef<Caller>('Viewer').implement({
  description: 'Who the caller is.',
  fields: (t) => ({
    kind: t.string({ description: '`user`, or `token` for a caller with an API token.', resolve: ({ actor }) => actor.kind }),
    name: t.string({ description: 'Name of the user or token.', resolve: ({ actor }) => actor.name }),
    email: t.exposeString('email', { nullable: true, description: 'Address of the user; null for a token.' }),
    role: t.field({ type: RoleType, description: 'What the caller may do.', resolve: ({ actor }) => actor.role }),
    tenantName: t.string({
      description: 'Name of the tenant in which the caller works.',
      resolve: async ({ tenantId }, _args, { deps }) => {
        const [tenant] = await deps.runtime.db.select().from(tenants).where(eq(tenants.id, tenantId))
        return tenant!.name
      },
    }),
    hasPassword: t.boolean({
      description: 'False: the user came by a one-time link and has yet to set a password. True for tokens.',
      resolve: async ({ actor }, _args, { deps }) => {
        if (actor.kind === 'token') return true
        const mine = and(eq(accounts.userId, actor.id), eq(accounts.providerId, 'credential'), isNotNull(accounts.password))
        return (await deps.runtime.db.$count(accounts, mine)) > 0
      },
    }),
  }),
})

export const ApiToken = builder.drizzleNode('apiTokens', {
  name: 'ApiToken',
  description: 'A key for tools. The key itself is shown once, when it is made.',
  select: { columns: { id: true } },
  id: { column: (token) => token.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What it is for.' }),
    role: t.expose('role', { type: RoleType, description: 'What its bearer may do.' }),
    prefix: t.exposeString('prefix', { description: 'Its first characters, to tell it from others.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, to the minute.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'When it ends by itself; null: never.' }),
    revokedAt: t.expose('revokedAt', { type: 'DateTime', nullable: true, description: 'When it was revoked.' }),
  }),
})

export const tokenConnection = connectionTypes(ApiToken, 'ApiToken', 'API tokens')

export const SignedIn = builder.objectRef<{ viewer: Caller; sessionToken: string }>('SignedIn').implement({
  description: 'A new session. Browsers get it as a cookie too.',
  fields: (t) => ({
    viewer: t.expose('viewer', { type: Viewer, description: 'Who is signed in.' }),
    sessionToken: t.exposeString('sessionToken', {
      description: 'For programs: send it as `Authorization: Bearer …`. Whoever has it is signed in.',
    }),
  }),
})

export const CreatedApiToken = builder
  .objectRef<{ token: string; apiToken: typeof ApiToken.$inferType }>('CreatedApiToken')
  .implement({
    description: 'A new API token.',
    fields: (t) => ({
      token: t.exposeString('token', {
        description: 'The token itself. It is shown only here; send it as `Authorization: Bearer …`.',
      }),
      apiToken: t.expose('apiToken', { type: ApiToken, description: 'What is kept of it.' }),
    }),
  })
