import {
  type CustomRole,
  createRole,
  deleteRole,
  deleteRoleBlockedReason,
  findRoles,
  grantBlockedReason,
  roles,
  rolesInUse,
  tenantPermissions,
  updateRole,
  updateRoleBlockedReason,
} from '@muster/core/access'
import { visibleTo } from '@muster/core/db'
import { Conflict, NotFound } from '@muster/core/errors'
import { BUILT_IN_ROLES, permissionsOfRole, rolePermissions } from '@muster/core/permissions'
import { asc } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import type { ApiContext } from '../../context.ts'
import { loader } from '../shared/loaders.ts'
import { mutation } from '../shared/mutation.ts'

type Shape = { name: string; description: string; isBuiltIn: boolean; permissions: ReadonlySet<string> }

const DESCRIPTIONS: Record<(typeof BUILT_IN_ROLES)[number], string> = {
  viewer: 'Reads nodes, runs, logs, agents, alerts and settings.',
  operator: 'Also adds nodes, and starts and cancels runs.',
  admin: 'Also manages credentials, members, templates and settings, approves host keys, and reads the audit log.',
  owner: 'Also transfers ownership and sets the retention of the audit log.',
}
const BUILT_IN = BUILT_IN_ROLES.map(
  (name): Shape => ({ name, description: DESCRIPTIONS[name], isBuiltIn: true, permissions: rolePermissions(name) }),
)
const shapeOf = ({ name, description, permissions }: CustomRole): Shape => ({
  name,
  description,
  isBuiltIn: false,
  permissions: permissionsOfRole(name, permissions),
})

const loadRoleIfKnown = loader(({ ctx }, names) => findRoles(ctx.db, ctx, names))
/** The role with this name; without permissions when there is none. */
export const loadRole = async (context: ApiContext, name: string) =>
  (await loadRoleIfKnown(context, name)) ?? { name, permissions: new Set<string>() }

const loadUsers = loader(({ ctx }, names) => rolesInUse(ctx.db, ctx, names))

const Role = builder.objectRef<Shape>('Role').implement({
  description: 'A set of permissions with a name, for members, API tokens and grants.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, unique in the tenant. It never changes.' }),
    description: t.exposeString('description', { description: 'What the role is for; may be empty.' }),
    isBuiltIn: t.exposeBoolean('isBuiltIn', { description: 'True for the roles of every tenant, which cannot be changed.' }),
    permissions: t.stringList({
      description: 'Names of its permissions in alphabetical order, at most 200.',
      resolve: ({ permissions }) => [...permissions].sort(),
    }),
    grantBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not give the role to a member or API token; null when allowed.',
      resolve: (role, _args, { ctx }) => grantBlockedReason(ctx.actor, role),
    }),
    updateBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not change the role; null when allowed.',
      resolve: (role, _args, { ctx }) => updateRoleBlockedReason(ctx.actor, role),
    }),
    deleteBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not delete the role, for example because members have it; null when allowed.',
      resolve: async (role, _args, context) => {
        const { actor } = context.ctx
        const denied = updateRoleBlockedReason(actor, role)
        return denied ?? deleteRoleBlockedReason(actor, role, (await loadUsers(context, role.name)) ?? [])
      },
    }),
  }),
})

builder.queryField('roles', (t) =>
  t.field({
    type: [Role],
    description:
      'The roles of the tenant, at most 104: the built-in ones from weakest to strongest, then the custom ones by name.',
    authScopes: { permission: tenantPermissions.read },
    resolve: async (_root, _args, { ctx }) => {
      const custom = await ctx.db.select().from(roles).where(visibleTo(ctx, roles)).orderBy(asc(roles.name))
      return [...BUILT_IN, ...custom.map(shapeOf)]
    },
  }),
)

const PERMISSIONS = 'Names of permissions that the caller holds, at most 200. Every role includes `tenant:read`.'

mutation('createRole', {
  description: 'Creates a custom role.',
  input: (t) => ({
    name: t.string({
      required: true,
      description: 'Name of at most 63 lower-case letters, digits and `. _ -`, not the name of a built-in role.',
    }),
    description: t.string({ description: 'What the role is for, at most 500 characters. Default: empty.' }),
    permissions: t.stringList({ required: true, description: PERMISSIONS }),
  }),
  idempotent: true,
  payload: { role: { type: Role, description: 'The new role.' } },
  resolve: async (input, { ctx }) => ({ role: shapeOf(await createRole(ctx, input)) }),
})

mutation('updateRole', {
  description: 'Changes a custom role. Its members and API tokens have the new permissions with their next use.',
  input: (t) => ({
    name: t.string({ required: true, description: 'Name of the role.' }),
    description: t.string({ description: 'New description, at most 500 characters.' }),
    permissions: t.stringList({ description: PERMISSIONS }),
  }),
  payload: { role: { type: Role, description: 'The changed role.' } },
  errors: [NotFound, Conflict],
  resolve: async (input, { ctx, deps }) => {
    const role = await updateRole(ctx, input)
    deps.auth.clearCallerCache()
    return { role: shapeOf(role) }
  },
})

mutation('deleteRole', {
  description: 'Deletes a custom role that no member, open invitation, valid API token or grant has.',
  input: (t) => ({ name: t.string({ required: true, description: 'Name of the role.' }) }),
  payload: { deletedName: { type: 'String', description: 'Name of the deleted role.' } },
  errors: [NotFound, Conflict],
  resolve: async (input, { ctx }) => ({ deletedName: (await deleteRole(ctx, input)).name }),
})
