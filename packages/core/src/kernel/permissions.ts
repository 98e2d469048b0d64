import { snakeCased } from './names.ts'

/** Built-in roles from weakest to strongest; each includes the permissions of the ones before it. */
export const BUILT_IN_ROLES = ['viewer', 'operator', 'admin', 'owner'] as const
export type BuiltInRole = (typeof BUILT_IN_ROLES)[number]

/** A built-in or custom role of a tenant: a name for a set of permissions. */
export type Role = { name: string; permissions: ReadonlySet<string> }

/**
 * Who holds a permission: a built-in role and the roles after it, or
 * - `installation`: installation administrators. No role of a tenant includes it.
 * - `agent`: node agents, Muster itself and worker processes.
 * - `system`: Muster itself and worker processes.
 * - `worker`: only worker processes.
 */
export type Holder = BuiltInRole | 'installation' | 'agent' | 'system' | 'worker'

/**
 * What a verb requires of its caller; `name` is for example `node:approve_host_key`. `isPerNode`: a grant can give it for the nodes of a
 * group. Its verbs call `authorizeSomewhere` first, and `authorizeNodes` when they know the nodes. `isPerCluster`: a grant can give it for a
 * Slurm cluster, or some of its partitions. Its verbs call `authorizeSomewhere` first, then `authorizeCluster` or `authorizeTargets`.
 */
export type Permission = {
  readonly name: string
  readonly holder: Holder
  readonly description: string
  readonly isPerNode: boolean
  readonly isPerCluster: boolean
  /** Users confirm their identity again when their tenant asks for it, see `assertIdentityConfirmed`. */
  readonly needsConfirmedIdentity: boolean
}

type Definition = readonly [holder: Holder, description: string, scope?: 'perNode' | 'perCluster']

const defined = new Map<string, Permission>()

/**
 * Typed permissions of one object type: `definePermissions('node', { purge: ['admin', 'Delete nodes permanently.'] }).purge`. The
 * description is printed in docs/permissions.md. A third element marks what grants can give. `stepUp`: actions that need a
 * confirmed identity.
 */
export const definePermissions = <const Action extends string>(
  object: string,
  actions: Record<Action, Definition>,
  { stepUp = [] }: { stepUp?: readonly NoInfer<Action>[] } = {},
): Record<Action, Permission> => {
  const entries = Object.entries<Definition>(actions).map(([action, [holder, description, scope]]) => {
    const permission: Permission = {
      name: `${object}:${snakeCased(action)}`,
      holder,
      description,
      isPerNode: scope === 'perNode',
      isPerCluster: scope === 'perCluster',
      needsConfirmedIdentity: (stepUp as readonly string[]).includes(action),
    }
    if (defined.has(permission.name)) throw new Error(`the permission ${permission.name} is defined twice`)
    defined.set(permission.name, permission)
    return [action, permission] as const
  })
  return Object.fromEntries(entries) as Record<Action, Permission>
}

export const isBuiltInRole = (name: string): name is BuiltInRole => (BUILT_IN_ROLES as readonly string[]).includes(name)

/** Whether the built-in role includes the permission. */
export const roleIncludes = (role: BuiltInRole, { holder }: Permission): boolean =>
  isBuiltInRole(holder) && BUILT_IN_ROLES.indexOf(role) >= BUILT_IN_ROLES.indexOf(holder)

/** Permissions that roles of a tenant can include: all that a built-in role has. */
export const tenantPermissionList = (): Permission[] => [...defined.values()].filter(({ holder }) => isBuiltInRole(holder))

/** Permissions that people can hold, by name: those of roles and those of installation administrators. */
export const grantablePermissions = (): Permission[] =>
  [...defined.values()]
    .filter(({ holder }) => isBuiltInRole(holder) || holder === 'installation')
    .sort((a, b) => (a.name < b.name ? -1 : 1))

const named = (permissions: Iterable<Permission>): ReadonlySet<string> => new Set([...permissions].map(({ name }) => name))

/** The permissions of a built-in role. */
export const rolePermissions = (role: BuiltInRole): ReadonlySet<string> =>
  named(tenantPermissionList().filter((permission) => roleIncludes(role, permission)))

/** The permission that every role includes. */
const ALWAYS_INCLUDED = 'tenant:read'

/**
 * The permissions of a role in a tenant.
 * @param custom of the custom role with that name; null: there is none
 * @returns nothing for a name that is neither built in nor a custom role
 */
export function permissionsOfRole(name: string, custom: readonly string[] | null): ReadonlySet<string> {
  if (isBuiltInRole(name)) return rolePermissions(name)
  if (!custom) return new Set()
  const known = named(tenantPermissionList())
  return new Set([ALWAYS_INCLUDED, ...custom.filter((each) => known.has(each))])
}

/** The permissions of an installation administrator, in addition to those of the role. */
export const installationPermissions = (): ReadonlySet<string> =>
  named([...defined.values()].filter(({ holder }) => holder === 'installation'))

/** Names of the permissions that grants can give for the nodes of groups. */
export const perNodePermissions = (): ReadonlySet<string> => named([...defined.values()].filter(({ isPerNode }) => isPerNode))

/** Names of the permissions that grants can give for Slurm clusters. */
export const perClusterPermissions = (): ReadonlySet<string> =>
  named([...defined.values()].filter(({ isPerCluster }) => isPerCluster))

/** A Slurm cluster, or those of its partitions. */
export type GrantedCluster = { id: string; partitions: readonly string[] | null }

/**
 * Permissions that a user or token holds only for some nodes, or for a Slurm cluster. Nodes: those that are in every one of `groupIds`.
 * Null for templates and credentials: all of them.
 */
export type Grant = {
  permissions: ReadonlySet<string>
  groupIds: readonly string[]
  templateIds: readonly string[] | null
  credentialIds: readonly string[] | null
  /** Not null: a grant for a cluster, which gives nothing on nodes of groups. */
  cluster: GrantedCluster | null
}

/**
 * The permissions of a user or token. `permissions` apply to the whole tenant, `grants` to some nodes or clusters. `role` is the name of the role,
 * used only in messages.
 */
export type Authority = {
  role: string
  isInstallationAdmin: boolean
  permissions: ReadonlySet<string>
  grants: readonly Grant[]
}

/** The authority of a caller with a role. @param isInstallationAdmin adds the permissions of the installation */
export function authorityOf(
  { name, permissions }: Role,
  { isInstallationAdmin = false, grants = [] }: { isInstallationAdmin?: boolean; grants?: readonly Grant[] } = {},
): Authority {
  const all = new Set(permissions)
  if (isInstallationAdmin) for (const each of installationPermissions()) all.add(each)
  return { role: name, isInstallationAdmin, permissions: all, grants }
}

/** The authority of a built-in role. */
export const actorRole = (role: string, isInstallationAdmin = false): Authority =>
  authorityOf({ name: role, permissions: permissionsOfRole(role, null) }, { isInstallationAdmin })
