import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { type Ctx, inTransaction } from '../../kernel/context.ts'
import { Conflict, NotFound, parseInput } from '../../kernel/errors.ts'
import { userAudit } from '../audit-actions.ts'
import { accounts, IDENTITY_PROVIDERS, type IdentityProvider } from '../tables.ts'
import { lockUser, sessionUser } from './passkeys.ts'
import { findSignInMethods, removalBlockedReason } from './sign-in-methods.ts'

export const DisconnectIdentityInput = z.object({ provider: z.enum(['credential', ...IDENTITY_PROVIDERS]) })

/**
 * Removes the caller's password (`credential`), or the identities at a provider. Sessions and memberships stay. The caller's `db`
 * must use the system role.
 * @param providers those that the installation has
 * @throws NotFound; Conflict it is the last way to sign in, or gives the caller a role
 */
export async function disconnectIdentity(
  caller: Ctx,
  input: z.input<typeof DisconnectIdentityInput>,
  providers: readonly IdentityProvider[],
): Promise<void> {
  const userId = sessionUser(caller)
  const { provider } = parseInput(DisconnectIdentityInput, input)
  await inTransaction(caller, async (tx, caller) => {
    const [user] = await lockUser(tx, userId)
    const methods = (await findSignInMethods(tx, [userId])).get(userId)!
    const removed = await tx
      .delete(accounts)
      .where(and(eq(accounts.userId, userId), eq(accounts.providerId, provider)))
      .returning({ id: accounts.id })
    if (!user || removed.length === 0)
      throw new NotFound(provider === 'credential' ? 'You have no password.' : 'You have no identity at this provider.')
    const blockedReason = removalBlockedReason(methods, provider, providers)
    if (blockedReason) throw new Conflict(blockedReason)
    await audit(tx, caller, userAudit.disconnectIdentity, { id: userId, name: user.name }, { provider })
  })
}
