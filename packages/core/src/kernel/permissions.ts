import { snakeCased } from './names.ts'

/** Roles from weakest to strongest; each includes the ones before it. */
export const ROLES = ['viewer', 'operator', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

/**
 * `worker`: only worker processes. `system`: Muster itself and worker processes. `agent`: node agents, Muster itself and worker
 * processes. No role includes these three.
 */
export type MinimumRole = Role | 'worker' | 'system' | 'agent'

/** What a verb requires of its caller; `name` is for example `node:approve_host_key`. */
export type Permission = { readonly name: string; readonly minimumRole: MinimumRole }

/**
 * Typed permissions of one object type: `definePermissions('node', { purge: 'admin' }).purge`. Viewers read; the API's scopes
 * check that.
 */
export const definePermissions = <const Action extends string>(
  object: string,
  actions: Record<Action, MinimumRole>,
): Record<Action, Permission> => {
  const entries = Object.entries<MinimumRole>(actions)
  return Object.fromEntries(
    entries.map(([action, minimumRole]) => [action, { name: `${object}:${snakeCased(action)}`, minimumRole }]),
  ) as Record<Action, Permission>
}
