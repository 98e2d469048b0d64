import { snakeCased } from './names.ts'

/** Built-in roles from weakest to strongest; each includes the permissions of the ones before it. */
export const ROLES = ['viewer', 'operator', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

/**
 * Who holds a permission: a built-in role and the roles after it, or
 * - `installation`: installation administrators. No role of a tenant includes it.
 * - `agent`: node agents, Muster itself and worker processes.
 * - `system`: Muster itself and worker processes.
 * - `worker`: only worker processes.
 */
export type Holder = Role | 'installation' | 'agent' | 'system' | 'worker'

/** What a verb requires of its caller; `name` is for example `node:approve_host_key`. */
export type Permission = { readonly name: string; readonly holder: Holder; readonly description: string }

const defined = new Map<string, Permission>()

/**
 * Typed permissions of one object type: `definePermissions('node', { purge: ['admin', 'Delete nodes permanently.'] }).purge`. The
 * description is printed in docs/permissions.md.
 */
export const definePermissions = <const Action extends string>(
  object: string,
  actions: Record<Action, readonly [holder: Holder, description: string]>,
): Record<Action, Permission> => {
  const entries = Object.entries<readonly [Holder, string]>(actions).map(([action, [holder, description]]) => {
    const permission: Permission = { name: `${object}:${snakeCased(action)}`, holder, description }
    if (defined.has(permission.name)) throw new Error(`the permission ${permission.name} is defined twice`)
    defined.set(permission.name, permission)
    return [action, permission] as const
  })
  return Object.fromEntries(entries) as Record<Action, Permission>
}

const isRole = (holder: string): holder is Role => (ROLES as readonly string[]).includes(holder)

/** Whether the built-in role includes the permission. */
export const roleIncludes = (role: Role, { holder }: Permission): boolean =>
  isRole(holder) && ROLES.indexOf(role) >= ROLES.indexOf(holder)

/** Permissions that roles of a tenant can include: all that a built-in role has. */
export const tenantPermissionList = (): Permission[] => [...defined.values()].filter(({ holder }) => isRole(holder))

/** Permissions that people can hold, by name: those of roles and those of installation administrators. */
export const grantablePermissions = (): Permission[] =>
  [...defined.values()]
    .filter(({ holder }) => isRole(holder) || holder === 'installation')
    .sort((a, b) => (a.name < b.name ? -1 : 1))

const named = (permissions: Iterable<Permission>): ReadonlySet<string> => new Set([...permissions].map(({ name }) => name))

/** The permissions of a built-in role. */
export const rolePermissions = (role: Role): ReadonlySet<string> =>
  named(tenantPermissionList().filter((permission) => roleIncludes(role, permission)))

/** The permissions of an installation administrator, in addition to those of the role. */
export const installationPermissions = (): ReadonlySet<string> =>
  named([...defined.values()].filter(({ holder }) => holder === 'installation'))

/**
 * The fields of an actor that say what it may do. A role that is not built in has no permissions here.
 * @param isInstallationAdmin adds the permissions of the installation
 */
export function actorRole(
  role: string,
  isInstallationAdmin = false,
): { role: string; isInstallationAdmin: boolean; permissions: ReadonlySet<string> } {
  const permissions = new Set(isRole(role) ? rolePermissions(role) : [])
  if (isInstallationAdmin) for (const name of installationPermissions()) permissions.add(name)
  return { role, isInstallationAdmin, permissions }
}
