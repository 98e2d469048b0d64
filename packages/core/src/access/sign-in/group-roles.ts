import { z } from 'zod'
import { RoleName } from '../roles/role-fields.ts'

/** Members of `group`, as the identity provider names it, get the role in the tenant. A null tenant is MUSTER_TENANT_NAME. */
export type GroupRole = { group: string; tenant: string | null; role: string }

const MAX_ROLES = 1000
// Owners are appointed in Muster: an identity provider that fails or is taken over leaves them in control.
const GroupRoleName = RoleName.refine((role) => role !== 'owner', 'must not be owner; only an owner appoints owners')
const Shape = z.record(z.string().min(1), z.union([GroupRoleName, z.record(z.string().min(1), GroupRoleName)]))

/** JSON: `{"gpu-admins": "admin", "researchers": {"Research": "operator", "Default": "viewer"}}`. */
export const groupRolesSetting = z
  .string()
  .default('{}')
  .transform((text, issue): GroupRole[] => {
    const parsed = Shape.safeParse(parseJson(text))
    const roles = Object.entries(parsed.data ?? {}).flatMap(([group, given]): GroupRole[] =>
      typeof given === 'string'
        ? [{ group, tenant: null, role: given }]
        : Object.entries(given).map(([tenant, role]) => ({ group, tenant, role })),
    )
    if (parsed.success && roles.length <= MAX_ROLES) return roles
    issue.addIssue(
      'must be JSON such as {"gpu-admins": "admin", "researchers": {"Research": "operator"}}, with the roles viewer, operator and admin, or custom roles of the tenant',
    )
    return z.NEVER
  })

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Returns the names of the roles of a user in `groups`, by tenant name. `provisionUser` applies the one with the most permissions.
 * @param isSame whether a group of the setting is one of the user's
 */
export function rolesOf(
  groups: readonly string[],
  roles: readonly GroupRole[],
  defaultTenant: string,
  isSame: (configured: string, own: string) => boolean = (configured, own) => configured === own,
): Map<string, string[]> {
  const result = new Map<string, string[]>()
  for (const { group, tenant, role } of roles) {
    if (!groups.some((own) => isSame(group, own))) continue
    const name = tenant ?? defaultTenant
    result.set(name, [...new Set([...(result.get(name) ?? []), role])])
  }
  return result
}
