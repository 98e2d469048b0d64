import { and, eq, ne } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { type Actor, type Ctx, inTransaction, type SystemCtx, type Tx } from '../../kernel/context.ts'
import { NotFound, parseInput } from '../../kernel/errors.ts'
import { Id } from '../../kernel/input.ts'
import { authorityOf } from '../../kernel/permissions.ts'
import { userAudit } from '../audit-actions.ts'
import { accessChanged } from '../change-events.ts'
import { accounts, members, passkeys, sessions, type User, users } from '../tables.ts'
import { revokeTokensOf } from '../tokens/revoke-tokens.ts'

export const ResetPasswordInput = z.object({ userId: Id, passwordHash: z.string() })

/**
 * Sets the password of a user who opened the link of a mail, and ends all sessions. The mail proves that the address is the user's.
 * Nobody has proven that before when the address is unverified: another person may have set it. Then passkeys, identities and API
 * tokens are removed too, because they may be that person's. The second factor stays: a mail does not replace it.
 * @throws NotFound the user was deleted
 */
export async function resetPassword(caller: SystemCtx, input: z.input<typeof ResetPasswordInput>): Promise<void> {
  const { userId, passwordHash } = parseInput(ResetPasswordInput, input)
  await inTransaction(caller, async (tx, caller) => {
    const [user] = await tx.select().from(users).where(eq(users.id, userId)).for('no key update')
    if (!user) throw new NotFound('The user of this link was deleted.')
    await writePassword(tx, userId, passwordHash)
    await tx.delete(sessions).where(eq(sessions.userId, userId))
    const removed = { passkeys: 0, identities: 0 }
    if (!user.emailVerified) {
      removed.passkeys = (await tx.delete(passkeys).where(eq(passkeys.userId, userId)).returning({ id: passkeys.id })).length
      const isIdentity = and(eq(accounts.userId, userId), ne(accounts.providerId, 'credential'))
      removed.identities = (await tx.delete(accounts).where(isIdentity).returning({ id: accounts.id })).length
      await tx.update(users).set({ emailVerified: true }).where(eq(users.id, userId))
    }
    const count = await inEachTenant(tx, { ...caller, actor: unsignedUser(user) }, userId, async (ctx) => {
      if (!user.emailVerified) await revokeTokensOf(tx, ctx, userId)
      await audit(tx, ctx, userAudit.resetPassword, user, removed)
    })
    if (count === 0) await audit(tx, { ...caller, tenantId: null }, userAudit.resetPassword, user, removed)
  })
}

/** The actor of a user who acts with the secret of a link, without a session: it holds no permission. */
export const unsignedUser = ({ id, name }: Pick<User, 'id' | 'name'>): Actor => ({
  kind: 'user',
  id,
  name,
  ...authorityOf({ name: 'none', permissions: new Set() }),
})

/** Sets the password in the form of better-auth. */
export async function writePassword(tx: Tx, userId: string, password: string): Promise<void> {
  const isPassword = and(eq(accounts.userId, userId), eq(accounts.providerId, 'credential'))
  const updated = await tx.update(accounts).set({ password }).where(isPassword).returning({ id: accounts.id })
  if (updated.length === 0) await tx.insert(accounts).values({ userId, accountId: userId, providerId: 'credential', password })
}

/** Calls `work` with a context of each tenant of the user, and emits `accessChanged` there. @returns how many tenants */
export async function inEachTenant(
  tx: Tx,
  caller: SystemCtx,
  userId: string,
  work: (ctx: Ctx) => Promise<void>,
): Promise<number> {
  const tenants = await tx.select({ tenantId: members.tenantId }).from(members).where(eq(members.userId, userId))
  for (const { tenantId } of tenants) {
    await work({ ...caller, systemDb: caller.db, tenantId })
    caller.notify(accessChanged({ id: userId, tenantId }))
  }
  return tenants.length
}
