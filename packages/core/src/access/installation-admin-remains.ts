import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { Tx } from '../kernel/context.ts'
import { members, tenants, users } from './tables.ts'

/**
 * Whether an installation administrator still has access to a tenant without the memberships that meet the condition. True when these
 * give no administrator access. Call it before the change, in its transaction: it locks all administrators, so that concurrent
 * changes cannot take the access of the last two. `tx` must use the system role.
 */
export async function installationAdminRemains(tx: Tx, without: SQL): Promise<boolean> {
  const isAdmin = eq(users.isInstallationAdmin, true)
  await tx.select({ id: users.id }).from(users).where(isAdmin).orderBy(users.id).for('no key update')
  const active = await tx
    .select({ ends: sql<boolean>`${without}` })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .innerJoin(tenants, eq(tenants.id, members.tenantId))
    .where(and(isAdmin, isNull(members.suspendedAt), isNull(tenants.suspendedAt)))
  return active.every(({ ends }) => !ends) || active.some(({ ends }) => !ends)
}
