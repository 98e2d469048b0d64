import {
  deleteTenantBlockedReason,
  memberBlockedReason,
  memberPermissions,
  type OpenInvitation as OpenInvitationShape,
  suspendTenantBlockedReason,
  transferBlockedReason,
} from '@muster/core/access'
import { permissionDeniedReason } from '@muster/core/context'
import { isOneOf } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { builder } from '../../builder.ts'
import { connectionTypes } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'
import { loadRole } from './roles.ts'
import { loadTenantCounts } from './tenant-counts.ts'

const { users } = schema

export const Tenant = builder.drizzleNode('tenants', {
  name: 'Tenant',
  description: 'An organization or team. Every other object belongs to one tenant and is visible only to its members.',
  select: { columns: { id: true } },
  id: { column: (tenant) => tenant.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, unique in the installation.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the tenant was created.' }),
    maxConcurrentRuns: t.exposeInt('maxConcurrentRuns', {
      nullable: true,
      description: 'Maximum number of concurrent runs over all workers; null without a limit.',
    }),
    maxNodes: t.exposeInt('maxNodes', {
      nullable: true,
      description: 'Maximum number of nodes that are not decommissioned; null without a limit.',
    }),
    nodeCount: t.int({
      description: 'Number of nodes that are not decommissioned.',
      resolve: async ({ id }, _args, context) => (await loadTenantCounts(context, id))!.nodes,
    }),
    memberCount: t.int({
      description: 'Number of members, including suspended ones and service accounts.',
      resolve: async ({ id }, _args, context) => (await loadTenantCounts(context, id))!.members,
    }),
    activeRunCount: t.int({
      description: 'Number of runs that a worker executes now.',
      resolve: async ({ id }, _args, context) => (await loadTenantCounts(context, id))!.activeRuns,
    }),
    deletedAt: t.expose('deletedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when a worker deletes the tenant with all its data; null unless deletion was requested.',
    }),
    deletedBy: t.field(nullableActorField('deleted', 'Actor that requested the deletion; null unless it was requested.')),
    deleteBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not delete the tenant; null when allowed.',
      select: { columns: { name: true, suspendedAt: true, deletedAt: true } },
      resolve: (tenant, _args, { ctx }) => deleteTenantBlockedReason(ctx.actor, tenant),
    }),
    suspendedAt: t.expose('suspendedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when members and tokens have no access and no run starts; null while the tenant is active.',
    }),
    suspendedBy: t.field(nullableActorField('suspended', 'Actor that suspended the tenant; null while the tenant is active.')),
    suspendBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not suspend the tenant; null when allowed.',
      select: { columns: { id: true, name: true, suspendedAt: true } },
      resolve: (tenant, _args, { ctx }) => suspendTenantBlockedReason(ctx.actor, tenant, ctx.tenantId),
    }),
  }),
})

export const tenantConnection = connectionTypes(Tenant, 'Tenant', 'tenants')

export const User = builder.drizzleNode('users', {
  name: 'User',
  description: 'A person who can sign in, or a service account.',
  select: { columns: { id: true } },
  id: { column: (user) => user.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Display name.' }),
    email: t.exposeString('email', {
      description: 'Email address for signing in. The address of a service account receives no mail.',
    }),
    isServiceAccount: t.exposeBoolean('isServiceAccount', {
      description: 'True for an account for programs, which cannot sign in and only owns API tokens.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the user was created.' }),
  }),
})

export const userConnection = connectionTypes(User, 'User', 'users')

export const Member = builder.drizzleNode('members', {
  name: 'Member',
  authScopes: { permission: memberPermissions.read },
  description: 'The membership of a user in a tenant.',
  select: { columns: { id: true } },
  id: { column: (member) => member.id },
  fields: (t) => ({
    user: t.relation('user', { description: 'The user.' }),
    tenant: t.relation('tenant', { description: 'The tenant.' }),
    role: t.exposeString('role', { description: 'Name of the role of the user in the tenant.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the user became a member.' }),
    suspendedAt: t.expose('suspendedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when the member has no access to the tenant; null while the member is active.',
    }),
    suspendedBy: t.field(nullableActorField('suspended', 'Actor that suspended the member; null while the member is active.')),
    changeBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not change the role of the member, suspend, resume or remove it; null when allowed.',
      select: { columns: { role: true }, with: { user: { columns: { name: true } } } },
      resolve: async ({ role, user }, _args, context) => {
        const { actor } = context.ctx
        const denied = permissionDeniedReason(actor, memberPermissions.write)
        return denied ?? memberBlockedReason(actor, { name: user.name, role: await loadRole(context, role) })
      },
    }),
    transferBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not make the member the owner; null when allowed.',
      select: {
        columns: { role: true, suspendedAt: true },
        with: { user: { columns: { name: true, isServiceAccount: true } } },
      },
      resolve: ({ user, ...member }, _args, { ctx }) =>
        permissionDeniedReason(ctx.actor, memberPermissions.transferOwnership) ?? transferBlockedReason({ ...user, ...member }),
    }),
  }),
})

export const Invitation = builder.drizzleNode('invitations', {
  name: 'Invitation',
  description: 'An invitation to become a member of the tenant. Requires the permission `member:write`.',
  select: { columns: { id: true } },
  id: { column: (invitation) => invitation.id },
  fields: (t) => ({
    email: t.exposeString('email', { description: 'Invited email address.' }),
    role: t.exposeString('role', { description: 'Name of the role of the future member.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the invitation was created.' }),
    createdBy: t.field(actorField('created', 'Actor that invited.')),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the link stops working.' }),
    acceptedAt: t.expose('acceptedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the invitation was accepted; null when it was not.',
    }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the invitation was revoked; null when it was not.',
    }),
  }),
})

export const invitationConnection = connectionTypes(Invitation, 'Invitation', 'invitations')

export const OpenInvitation = builder.objectRef<OpenInvitationShape>('OpenInvitation').implement({
  description: 'What the holder of an invitation link sees before accepting it.',
  fields: (t) => ({
    email: t.exposeString('email', { description: 'Invited email address.' }),
    role: t.exposeString('role', { description: 'Name of the role of the future member.' }),
    tenantName: t.exposeString('tenantName', { description: 'Name of the tenant.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the link stops working.' }),
    hasAccount: t.exposeBoolean('hasAccount', {
      description: 'True when a user with the address exists and must sign in to accept; false when accepting creates the user.',
    }),
  }),
})

export const memberConnection = connectionTypes(Member, 'Member', 'members')

const loadUser = loader(async ({ ctx }, ids) => {
  const rows = await ctx.db
    .select()
    .from(users)
    .where(isOneOf(users.id, [...ids]))
  return new Map(rows.map((user) => [user.id, user]))
})

type ActorShape = { name: string; userId: string | null }

export const Actor = builder.objectRef<ActorShape>('Actor').implement({
  description: 'Actor that performed an action: a user, an API token, an agent or Muster itself.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the user, API token, agent or process at the time of the action.' }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'The user, or the owner of the API token; null for other actors and when the user was deleted.',
      resolve: async ({ userId }, _args, context) => (userId ? ((await loadUser(context, userId)) ?? null) : null),
    }),
  }),
})

type ActorColumns<Verb extends string> = Record<`${Verb}ById`, string | null> & Record<`${Verb}ByName`, string | null>

/**
 * Field options of the actor in the columns `…ById` and `…ByName`, written by `actorColumns` of core:
 * `createdBy: t.field(actorField('created', 'Actor that started the run.'))`. Not null.
 */
export const actorField = <Verb extends string>(verb: Verb, description: string) => ({
  type: Actor,
  description,
  select: { columns: selected(verb) },
  resolve: (row: ActorColumns<Verb>): ActorShape => actorOf(row, verb) ?? { name: '', userId: null },
})

/** The same, null when the column `…ByName` is null. */
export const nullableActorField = <Verb extends string>(verb: Verb, description: string) => ({
  type: Actor,
  nullable: true as const,
  description,
  select: { columns: selected(verb) },
  resolve: (row: ActorColumns<Verb>): ActorShape | null => actorOf(row, verb),
})

/** Field options of the owner in the columns `ownerId` and `ownerName`: what it starts has the permissions of that user or token. */
export const ownerField = (description: string) => ({
  type: Actor,
  description,
  select: { columns: { ownerId: true, ownerName: true } as Record<'ownerId' | 'ownerName', true> },
  resolve: ({ ownerId, ownerName }: { ownerId: string | null; ownerName: string }): ActorShape => ({
    name: ownerName,
    userId: ownerId,
  }),
})

const selected = <Verb extends string>(verb: Verb) =>
  ({ [`${verb}ById`]: true, [`${verb}ByName`]: true }) as { [Column in `${Verb}ById` | `${Verb}ByName`]: true }

/** The actor in the columns `…ById` and `…ByName` of a row; null when there is none. */
export function actorOf<Verb extends string>(row: ActorColumns<Verb>, verb: Verb): ActorShape | null {
  const name = row[`${verb}ByName`] as string | null
  return name === null ? null : { name, userId: row[`${verb}ById`] as string | null }
}
