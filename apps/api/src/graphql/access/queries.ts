import {
  findInvitationByToken,
  installationAdminPermissions,
  memberPermissions,
  tenantPermissions,
  tokenPermissions,
} from '@muster/core/access'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { eq } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import {
  Invitation,
  invitationConnection,
  Member,
  memberConnection,
  OpenInvitation,
  Tenant,
  tenantConnection,
  User,
  userConnection,
} from './people.ts'
import { ApiToken, tokenConnection, Viewer } from './types.ts'

const { apiTokens, invitations, members, tenants, users } = schema

builder.queryFields((t) => ({
  viewer: t.field({
    type: Viewer,
    nullable: true,
    description: 'The caller; null when not signed in.',
    authScopes: { public: true },
    resolve: (_root, _args, { caller }) => caller,
  }),
  tenants: t.drizzleConnection(
    {
      type: Tenant,
      description: 'Tenants of the installation, oldest first. Requires the permission `tenant:manage`.',
      authScopes: { permission: tenantPermissions.manage },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.systemDb.$count(tenants),
      // Row-level security hides other tenants from `ctx.db`.
      resolve: (query, _root, _args, { deps }) => deps.runtime.db.query.tenants.findMany(query({})),
    },
    ...tenantConnection,
  ),
  installationAdmins: t.drizzleConnection(
    {
      type: User,
      description: 'Installation administrators, oldest account first. Requires the permission `installation_admin:write`.',
      authScopes: { permission: installationAdminPermissions.write },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.systemDb.$count(users, eq(users.isInstallationAdmin, true)),
      // They may be members of other tenants, which row-level security hides from `ctx.db`.
      resolve: (query, _root, _args, { deps }) =>
        deps.runtime.db.query.users.findMany(query({ where: { isInstallationAdmin: true } })),
    },
    ...userConnection,
  ),
  members: t.drizzleConnection(
    {
      type: Member,
      description: 'Members of the tenant, oldest first.',
      authScopes: { permission: memberPermissions.read },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(members, visibleTo(ctx, members)),
      resolve: (query, _root, _args, { ctx }) => ctx.db.query.members.findMany(query({ where: { tenantId: ctx.tenantId } })),
    },
    ...memberConnection,
  ),
  invitations: t.drizzleConnection(
    {
      type: Invitation,
      description: 'Invitations to the tenant, oldest first, including accepted, revoked and expired ones.',
      authScopes: { permission: memberPermissions.write },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(invitations, visibleTo(ctx, invitations)),
      resolve: (query, _root, _args, { ctx }) => ctx.db.query.invitations.findMany(query({ where: { tenantId: ctx.tenantId } })),
    },
    ...invitationConnection,
  ),
  openInvitation: t.field({
    type: OpenInvitation,
    nullable: true,
    description:
      'The invitation of a link; null when the link was used or revoked, or has expired. Send it by POST: the token is secret.',
    authScopes: { public: true },
    args: { token: t.arg.string({ required: true, description: 'The token of the link, after `#token=`.' }) },
    resolve: (_root, { token }, { deps }) => findInvitationByToken(deps.runtime.db, token),
  }),
  apiTokens: t.drizzleConnection(
    {
      type: ApiToken,
      description: 'API tokens, oldest first, including revoked ones.',
      authScopes: { permission: tokenPermissions.read },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(apiTokens, visibleTo(ctx, apiTokens)),
      resolve: (query, _root, _args, { ctx }) => ctx.db.query.apiTokens.findMany(query({ where: { tenantId: ctx.tenantId } })),
    },
    ...tokenConnection,
  ),
}))
