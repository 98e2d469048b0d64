import { type Authority, authorityOf, type Grant, perNodePermissions, type Role } from '../kernel/permissions.ts'

/** Restrictions of a token. Null permissions: all of the role. No groups: the whole tenant. */
export type TokenScope = {
  role: Role
  permissions: readonly string[] | null
  groupIds: readonly string[]
  isInstallationAdmin: boolean
}

/** Whether a token that is restricted to groups keeps the permission for the whole tenant. */
const isRead = (permission: string): boolean => permission.endsWith(':read')

/** The names that are also in `others`. */
const common = (names: Iterable<string>, others: ReadonlySet<string>): Set<string> =>
  new Set([...names].filter((name) => others.has(name)))

/**
 * Returns the current permissions of a token, at most those of its owner. A token with groups holds permissions on nodes only for
 * nodes of these groups, and no other permissions except those to read: none on Slurm clusters.
 */
export function tokenAuthority({ role, permissions, groupIds, isInstallationAdmin }: TokenScope, owner: Authority): Authority {
  const scope = permissions ? common(permissions, role.permissions) : role.permissions
  const held = common(scope, owner.permissions)
  const name = common(role.permissions, owner.permissions).size === role.permissions.size ? role.name : owner.role
  const granted = owner.grants
    .map((grant): Grant => ({ ...grant, permissions: common(grant.permissions, scope) }))
    .filter((grant) => grant.permissions.size > 0)
  if (groupIds.length === 0)
    return authorityOf(
      { name, permissions: held },
      { isInstallationAdmin: isInstallationAdmin && owner.isInstallationAdmin, grants: granted },
    )
  const everywhere: Grant = {
    permissions: common(held, perNodePermissions()),
    groupIds: [],
    templateIds: null,
    credentialIds: null,
    cluster: null,
  }
  return authorityOf(
    { name, permissions: new Set([...held].filter(isRead)) },
    {
      grants: [everywhere, ...granted.filter(({ cluster }) => cluster === null)].flatMap((grant) =>
        grant.permissions.size > 0 ? groupIds.map((id) => ({ ...grant, groupIds: [...new Set([...grant.groupIds, id])] })) : [],
      ),
    },
  )
}
