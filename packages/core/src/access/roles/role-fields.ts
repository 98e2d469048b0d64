import { z } from 'zod'
import { multilineText } from '../../kernel/input.ts'
import { isBuiltInRole, tenantPermissionList } from '../../kernel/permissions.ts'

/** Name of a built-in or custom role; upper case is accepted. */
export const RoleName = z
  .string()
  .trim()
  .toLowerCase()
  .max(63, 'must have at most 63 characters')
  .regex(/^[a-z0-9][a-z0-9._-]*$/, 'must begin with a letter or digit and contain only letters, digits and . _ -')

export const CustomRoleName = RoleName.refine((name) => !isBuiltInRole(name), 'is the name of a built-in role')

/** Names of permissions that roles can include. */
export const PermissionNames = z
  .array(z.string())
  .max(200, 'must have at most 200 entries')
  .transform((names, context) => {
    const known = new Set(tenantPermissionList().map(({ name }) => name))
    names.forEach((name, i) => {
      if (!known.has(name))
        context.addIssue({ code: 'custom', path: [i], message: `${name} is not a permission that roles can include` })
    })
    return [...new Set(names)].sort()
  })

export const RoleDescription = multilineText(500)
