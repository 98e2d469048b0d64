import {
  chooseEmailBlockedReason,
  findMemberships,
  hasSignInMethod,
  memberPermissions,
  revokeBlockedReason,
  tokenPermissions,
} from '@muster/core/access'
import { permissionDeniedReason } from '@muster/core/context'
import { isOneOf, visibleTo } from '@muster/core/db'
import { grantablePermissions } from '@muster/core/permissions'
import { schema } from '@muster/core/registry'
import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import type { Caller } from '../../sign-in/caller.ts'
import { NodeGroup } from '../groups/types.ts'
import { connectionTypes } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'
import { ViewerKind } from './enums.ts'
import { actorField, nullableActorField, Tenant, User } from './people.ts'
import { PermissionType } from './permissions.ts'

const { accounts, nodeGroups, users } = schema

const loadGroup = loader(async ({ ctx }, ids) => {
  const isWanted = and(visibleTo(ctx, nodeGroups), isOneOf(nodeGroups.id, [...ids]))
  return new Map((await ctx.db.select().from(nodeGroups).where(isWanted)).map((row) => [row.id, row]))
})

export const ApiToken = builder.drizzleNode('apiTokens', {
  name: 'ApiToken',
  // A token sees itself.
  authScopes: ({ id }, { caller }) => id === caller?.actor.id || { permission: tokenPermissions.read },
  description: 'A token for programs. Its secret is shown once, when it is created.',
  select: { columns: { id: true } },
  id: { column: (token) => token.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Purpose of the token.' }),
    role: t.exposeString('role', { description: 'Name of the role of the token.' }),
    prefix: t.exposeString('prefix', { description: 'First characters of the secret, to recognize the token.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the token was created.' }),
    createdBy: t.field(actorField('created', 'Actor that created the token.')),
    owner: t.relation('owner', {
      description: 'User or service account that owns the token. The token works while its owner is an active member.',
    }),
    permissions: t.exposeStringList('permissions', {
      nullable: true,
      description: 'Of the permissions of the role, those that the token has, at most 100; null: all of them.',
    }),
    nodeGroups: t.field({
      type: [NodeGroup],
      description:
        'Groups for whose nodes the token has its permissions; in the whole tenant it then has only those to read. At most 50; empty: the token is not limited to groups, unless `isLimitedToGroups` because all were deleted.',
      select: { columns: { groupIds: true } },
      resolve: async ({ groupIds }, _args, context) =>
        (await Promise.all(groupIds.map((id) => loadGroup(context, id)))).filter((group) => group !== undefined),
    }),
    isLimitedToGroups: t.boolean({
      description: 'Whether the token has permissions, other than to read, only for the nodes of groups.',
      select: { columns: { groupIds: true } },
      resolve: ({ groupIds }) => groupIds.length > 0,
    }),
    networks: t.exposeStringList('networks', {
      description: 'Networks from which the token is accepted, such as `10.0.0.0/8`; at most 50. Empty: everywhere.',
    }),
    revokeBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not revoke the token; null when allowed.',
      select: { columns: { name: true, ownerId: true, revokedAt: true } },
      resolve: (token, _args, { ctx }) => revokeBlockedReason(ctx.actor, token),
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the token was last used, with a precision of one minute; null when it was never used.',
    }),
    lastUsedAddress: t.exposeString('lastUsedAddress', {
      nullable: true,
      description: 'Address from which the token was last used; null when it was never used.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the token expires.' }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the token was revoked; null when it was not.',
    }),
    revokedBy: t.field(nullableActorField('revoked', 'Actor that revoked the token; null when it was not revoked.')),
  }),
})

export const tokenConnection = connectionTypes(ApiToken, 'ApiToken', 'API tokens')

/** A row that Pothos loads by its ID when its fields are requested. */
const byId = <Ref extends { $inferType: unknown }>(_ref: Ref, id: string) => ({ id }) as Ref['$inferType']

export const Viewer = builder.objectRef<Caller>('Viewer').implement({
  description: 'The caller.',
  fields: (t) => ({
    kind: t.field({
      type: ViewerKind,
      description: 'How the caller is authenticated.',
      resolve: ({ actor }) => (actor.kind === 'user' ? 'USER' : 'API_TOKEN'),
    }),
    name: t.string({ description: 'Name of the user or API token.', resolve: ({ actor }) => actor.name }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'The signed-in user, or the user or service account that owns the API token.',
      resolve: ({ actor }) => {
        const id = actor.kind === 'user' ? actor.id : actor.userId
        return id ? byId(User, id) : null
      },
    }),
    apiToken: t.field({
      type: ApiToken,
      nullable: true,
      description: 'The API token; null for a user with a session.',
      resolve: ({ actor }) => (actor.kind === 'token' ? byId(ApiToken, actor.id) : null),
    }),
    role: t.string({ description: 'Name of the role of the caller.', resolve: ({ actor }) => actor.role }),
    isInstallationAdmin: t.boolean({
      description:
        'Whether the caller holds the permissions of the installation: tenants, quotas, workers and the encryption key.',
      resolve: ({ actor }) => actor.isInstallationAdmin,
    }),
    permissions: t.field({
      type: [PermissionType],
      description: 'All permissions, at most 100, with the reason why the caller lacks each of them.',
      resolve: () => grantablePermissions(),
    }),
    tenant: t.field({
      type: Tenant,
      description: 'Tenant in which the caller works.',
      resolve: ({ tenantId }) => byId(Tenant, tenantId),
    }),
    tenants: t.drizzleField({
      type: [Tenant],
      description:
        'Tenants of which the user is an active member in this session, ordered by the date of joining. For an API token, its tenant. At most 500.',
      resolve: async (query, { actor, tenantId, provider }, _args, { deps }) => {
        const { db } = deps.runtime
        const memberships = actor.kind === 'token' ? [{ tenantId }] : await findMemberships(db, actor.id, provider)
        const ids = memberships.map((each) => each.tenantId)
        return db.query.tenants.findMany(
          query({
            where: { id: { in: ids } },
            orderBy: (tenant) => sql`array_position(${sql.param(ids)}::uuid[], ${tenant.id})`,
          }),
        )
      },
    }),
    hasSecondFactor: t.boolean({
      description: 'Whether the user signs in with a code of an authenticator app; false for API tokens.',
      resolve: async ({ actor }, _args, { deps }) =>
        actor.kind === 'user' && (await deps.runtime.db.$count(users, and(eq(users.id, actor.id), users.twoFactorEnabled))) > 0,
    }),
    inviteBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not invite and change members of the tenant; null when allowed.',
      resolve: ({ actor }) => permissionDeniedReason(actor, memberPermissions.write),
    }),
    needsPassword: t.boolean({
      description:
        'Whether the user must set a password, after signing in with a one-time link and without another way to sign in. False for API tokens.',
      resolve: async ({ actor }, _args, { deps }) => actor.kind === 'user' && !(await hasSignInMethod(deps.runtime.db, actor.id)),
    }),
    choosesEmail: t.boolean({
      description:
        'Whether the user chooses the email address together with the first password, in `setPassword`: the first owner. False for API tokens.',
      resolve: async ({ actor }, _args, { deps }) =>
        actor.kind === 'user' && chooseEmailBlockedReason(actor, await hasSignInMethod(deps.runtime.db, actor.id)) === null,
    }),
    changeEmailBlockedReason: t.string({
      nullable: true,
      description: 'Why the user cannot change the email address with `requestEmailChange`; null when possible.',
      resolve: ({ actor }, _args, { deps }) =>
        actor.kind === 'user' ? deps.auth.changeEmailBlockedReason : 'An API token has no email address.',
    }),
    hasPassword: t.boolean({
      description: 'Whether the user has a password in Muster; true for API tokens.',
      resolve: async ({ actor }, _args, { deps }) => {
        if (actor.kind === 'token') return true
        const password = and(eq(accounts.userId, actor.id), eq(accounts.providerId, 'credential'), isNotNull(accounts.password))
        return (await deps.runtime.db.$count(accounts, password)) > 0
      },
    }),
  }),
})
