import { grantBlockedReason, ROLES, type Role, tenantPermissions } from '@muster/core/access'
import { permissionDeniedReason } from '@muster/core/context'
import { grantablePermissions, type Permission, roleIncludes, rolePermissions } from '@muster/core/permissions'
import { builder } from '../../builder.ts'
import { RoleType } from './enums.ts'

export const PermissionType = builder.objectRef<Permission>('Permission').implement({
  description: 'A permission that a role or an installation administrator can hold.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Object and action, for example `node:write`.' }),
    description: t.exposeString('description', { description: 'What the permission allows.' }),
    roles: t.field({
      type: [RoleType],
      description:
        'Built-in roles that include the permission, at most 4; empty for a permission of installation administrators.',
      resolve: (permission) => ROLES.filter((role) => roleIncludes(role, permission)),
    }),
    blockedReason: t.string({
      nullable: true,
      description: 'Why the caller lacks the permission; null when the caller holds it.',
      resolve: (permission, _args, { ctx }) => permissionDeniedReason(ctx.actor, permission),
    }),
  }),
})

const BuiltInRole = builder.objectRef<Role>('BuiltInRole').implement({
  description: 'A role that every tenant has.',
  fields: (t) => ({
    role: t.field({ type: RoleType, description: 'The role.', resolve: (role) => role }),
    permissions: t.stringList({
      description: 'Names of its permissions, at most 100.',
      resolve: (role) => [...rolePermissions(role)].sort(),
    }),
    grantBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not give the role to a member or API token; null when allowed.',
      resolve: (role, _args, { ctx }) => grantBlockedReason(ctx.actor, role),
    }),
  }),
})

builder.queryFields((t) => ({
  permissions: t.field({
    type: [PermissionType],
    description: 'All permissions by name, at most 100.',
    authScopes: { permission: tenantPermissions.read },
    resolve: () => grantablePermissions(),
  }),
  builtInRoles: t.field({
    type: [BuiltInRole],
    description: 'The built-in roles from weakest to strongest, at most 4.',
    authScopes: { permission: tenantPermissions.read },
    resolve: () => [...ROLES],
  }),
}))
