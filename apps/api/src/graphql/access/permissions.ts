import { tenantPermissions } from '@muster/core/access'
import { deniedEverywhereReason } from '@muster/core/context'
import { BUILT_IN_ROLES, grantablePermissions, type Permission, roleIncludes } from '@muster/core/permissions'
import { builder } from '../../builder.ts'

export const PermissionType = builder.objectRef<Permission>('Permission').implement({
  description: 'A permission that a role or an installation administrator can hold.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Object and action, for example `node:write`.' }),
    description: t.exposeString('description', { description: 'What the permission allows.' }),
    isPerNode: t.exposeBoolean('isPerNode', {
      description: 'Whether grants and API tokens can limit the permission to the nodes of groups.',
    }),
    isPerCluster: t.exposeBoolean('isPerCluster', {
      description: 'Whether grants can limit the permission to Slurm clusters and partitions.',
    }),
    roles: t.stringList({
      description:
        'Names of built-in roles that include the permission, at most 4; empty for a permission of installation administrators.',
      resolve: (permission) => BUILT_IN_ROLES.filter((role) => roleIncludes(role, permission)),
    }),
    blockedReason: t.string({
      nullable: true,
      description:
        'Why the caller lacks the permission; null when the caller holds it in the tenant, or for some nodes or clusters through a grant.',
      resolve: (permission, _args, { ctx }) => deniedEverywhereReason(ctx.actor, permission),
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
}))
