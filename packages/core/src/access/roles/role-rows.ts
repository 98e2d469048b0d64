import { and, eq, gt, inArray, isNull, sql } from 'drizzle-orm'
import { grants } from '../../grants/tables.ts'
import type { Ctx, Tx } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/client.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { InvalidInput } from '../../kernel/errors.ts'
import { isBuiltInRole, permissionsOfRole, type Role } from '../../kernel/permissions.ts'
import { apiTokens, type CustomRole, invitations, members, roles, users } from '../tables.ts'

export const roleOf = ({ name, permissions }: CustomRole): Role => ({ name, permissions: permissionsOfRole(name, permissions) })

/**
 * Returns the role with this name, and locks it against deletion until the end of the transaction.
 * @throws InvalidInput at `role`
 */
export async function findRole(tx: Tx, ctx: Ctx, name: string): Promise<Role> {
  if (isBuiltInRole(name)) return { name, permissions: permissionsOfRole(name, null) }
  const [role] = await tx
    .select()
    .from(roles)
    .where(and(visibleTo(ctx, roles), eq(roles.name, name)))
    .for('key share')
  if (!role) throw new InvalidInput([{ path: 'role', message: `there is no role ${name}; \`muster role list\` shows the roles` }])
  return roleOf(role)
}

/** Roles by name, for messages and blocked reasons. A name that does not exist has no permissions. */
export async function findRoles(db: Db | Tx, ctx: Pick<Ctx, 'tenantId'>, names: readonly string[]): Promise<Map<string, Role>> {
  const wanted = [...new Set(names)]
  const custom = wanted.filter((name) => !isBuiltInRole(name))
  const rows =
    custom.length > 0
      ? await db
          .select()
          .from(roles)
          .where(and(visibleTo(ctx, roles), inArray(roles.name, custom)))
      : []
  const permissions = new Map(rows.map((row) => [row.name, row.permissions]))
  return new Map(wanted.map((name) => [name, { name, permissions: permissionsOfRole(name, permissions.get(name) ?? null) }]))
}

/** Users of each of these roles, as text for messages: members, open invitations, valid API tokens and grants. */
export async function rolesInUse(
  db: Db | Tx,
  ctx: Pick<Ctx, 'tenantId'>,
  names: readonly string[],
): Promise<Map<string, string[]>> {
  const wanted = [...names]
  const ofMembers = db
    .select({ role: members.role, who: sql<string>`'the member ' || ${users.name}`.as('who') })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(visibleTo(ctx, members), inArray(members.role, wanted)))
  const ofInvitations = db
    .select({ role: invitations.role, who: sql<string>`'the invitation of ' || ${invitations.email}`.as('who') })
    .from(invitations)
    .where(
      and(
        visibleTo(ctx, invitations),
        inArray(invitations.role, wanted),
        isNull(invitations.acceptedAt),
        isNull(invitations.revokedAt),
        gt(invitations.expiresAt, sql`now()`),
      ),
    )
  const ofTokens = db
    .select({ role: apiTokens.role, who: sql<string>`'the API token ' || ${apiTokens.name}`.as('who') })
    .from(apiTokens)
    .where(
      and(
        visibleTo(ctx, apiTokens),
        inArray(apiTokens.role, wanted),
        isNull(apiTokens.revokedAt),
        gt(apiTokens.expiresAt, sql`now()`),
      ),
    )
  const ofGrants = db
    .select({ role: grants.role, who: sql<string>`'a grant of ' || ${users.name}`.as('who') })
    .from(grants)
    .innerJoin(members, eq(members.id, grants.memberId))
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(visibleTo(ctx, grants), inArray(grants.role, wanted)))
  const rows = await ofMembers.unionAll(ofInvitations).unionAll(ofTokens).unionAll(ofGrants)
  const found = Map.groupBy(rows, ({ role }) => role)
  return new Map(wanted.map((name) => [name, (found.get(name) ?? []).map(({ who }) => who).sort()]))
}
