import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, Forbidden, NotFound } from '../../kernel/errors.ts'
import { installationAdminRemains } from '../installation-admin-remains.ts'
import { memberBlockedReason } from '../policy.ts'
import { findRoles } from '../roles/role-rows.ts'
import { type Member, members, tenants, users } from '../tables.ts'

/** A member with the name of its user. */
export type NamedMember = Member & { name: string; isServiceAccount: boolean }

/** Serializes changes of the tenant's members, because each change must leave an owner. Also waits for a deletion of the tenant. */
export async function lockMembers(tx: Tx, ctx: Ctx): Promise<void> {
  await tx.select({ id: tenants.id }).from(tenants).where(eq(tenants.id, ctx.tenantId)).for('no key update')
}

/**
 * The member that the caller may change. Call it after `lockMembers`.
 * @throws NotFound; Forbidden the member has more permissions than the caller
 */
export async function findChangeableMember(tx: Tx, ctx: Ctx, id: string): Promise<NamedMember> {
  const [found] = await tx
    .select({ member: members, name: users.name, isServiceAccount: users.isServiceAccount })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(visibleTo(ctx, members), eq(members.id, id)))
  if (!found) throw new NotFound(`There is no member ${id}.`)
  const member = { ...found.member, name: found.name, isServiceAccount: found.isServiceAccount }
  const role = (await findRoles(tx, ctx, [member.role])).get(member.role)!
  const blockedReason = memberBlockedReason(ctx.actor, { name: member.name, role })
  if (blockedReason) throw new Forbidden(blockedReason)
  return member
}

/**
 * Checks that an installation administrator has access to a tenant without this membership. Call it before the write, with the system
 * role.
 * @throws Conflict when `member` is the last one
 */
export async function assertAdminRemains(tx: Tx, { id, name }: NamedMember): Promise<void> {
  if (await installationAdminRemains(tx, eq(members.id, id))) return
  throw new Conflict(`${name} is the only installation administrator with access to a tenant. Appoint another user first.`)
}

/**
 * Checks that the tenant still has an owner who can sign in. Call it after the write, in the transaction that holds `lockMembers`.
 * @throws Conflict when `member` was the last one
 */
export async function assertOwnerRemains(tx: Tx, ctx: Ctx, member: NamedMember): Promise<void> {
  const isActiveOwner = and(visibleTo(ctx, members), eq(members.role, 'owner'), isNull(members.suspendedAt))
  const [owner] = await tx.select({ one: sql`1` }).from(members).where(isActiveOwner).limit(1)
  if (!owner) throw new Conflict(`${member.name} is the last active owner of the tenant. Make another member the owner first.`)
}
