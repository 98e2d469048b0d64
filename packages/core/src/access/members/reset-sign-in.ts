import { and, asc, eq, isNull } from 'drizzle-orm'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction, type SystemCtx } from '../../kernel/context.ts'
import { Conflict, NotFound } from '../../kernel/errors.ts'
import { memberAudit } from '../audit-actions.ts'
import { accessChanged } from '../change-events.ts'
import { memberPermissions } from '../permissions.ts'
import { accounts, members, passkeys, sessions, twoFactors, users } from '../tables.ts'

/**
 * Removes the password, the passkeys and the second factor of a user who lost access, and ends the sessions. The user then signs in
 * with a one-time link. Called only by `muster-admin` on the server.
 * @param email null: the only active owner of the installation
 * @throws NotFound; Conflict when `email` is null and there are several owners
 */
export async function resetSignIn(caller: SystemCtx, { email }: { email: string | null }): Promise<{ email: string }> {
  authorize(caller, memberPermissions.resetSignIn)
  return inTransaction(caller, async (tx, caller) => {
    const isWanted = email ? eq(users.email, email.toLowerCase()) : and(eq(members.role, 'owner'), isNull(members.suspendedAt))
    const found = await tx
      .select({ id: users.id, name: users.name, email: users.email, tenantId: members.tenantId })
      .from(users)
      .innerJoin(members, eq(members.userId, users.id))
      .where(and(isWanted, eq(users.isServiceAccount, false)))
      .orderBy(asc(members.createdAt))
    const addresses = [...new Set(found.map((user) => user.email))]
    const [user] = found
    if (!user)
      throw new NotFound(
        email
          ? `There is no member with the address ${email}.`
          : 'No tenant has an owner. Start Muster once: the first start creates one.',
      )
    if (addresses.length > 1)
      throw new Conflict(`There are several owners. Name one of their addresses: ${addresses.slice(0, 20).join(', ')}`)
    await tx.delete(sessions).where(eq(sessions.userId, user.id))
    await tx.delete(accounts).where(and(eq(accounts.userId, user.id), eq(accounts.providerId, 'credential')))
    await tx.delete(passkeys).where(eq(passkeys.userId, user.id))
    await tx.delete(twoFactors).where(eq(twoFactors.userId, user.id))
    await tx.update(users).set({ twoFactorEnabled: false }).where(eq(users.id, user.id))
    for (const { tenantId } of found) {
      const ctx: Ctx = { ...caller, systemDb: caller.db, tenantId }
      await audit(tx, ctx, memberAudit.resetSignIn, { id: user.id, name: user.name })
      caller.notify(accessChanged({ id: user.id, tenantId }))
    }
    return { email: user.email }
  })
}
