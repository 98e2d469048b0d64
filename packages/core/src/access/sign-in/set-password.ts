import { and, eq, ne } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { type Ctx, inTransaction } from '../../kernel/context.ts'
import { sqlState, UNIQUE_VIOLATION } from '../../kernel/db/rows.ts'
import { InvalidInput, NotFound, parseInput } from '../../kernel/errors.ts'
import { Id, singleLineText } from '../../kernel/input.ts'
import { userAudit } from '../audit-actions.ts'
import { EmailAddress } from '../members/invite-member.ts'
import { chooseEmailBlockedReason } from '../policy.ts'
import { sessions, users } from '../tables.ts'
import { lockUser, sessionUser } from './passkeys.ts'
import { inEachTenant, writePassword } from './reset-password.ts'
import { hasSignInMethod } from './sign-in-methods.ts'

export const SetPasswordInput = z.object({
  /** The session of the caller; the others end. */
  sessionId: Id,
  passwordHash: z.string(),
  name: singleLineText(100).nullish(),
  email: EmailAddress.nullish(),
})

/**
 * Sets the password of the caller, and the name when given. The first owner, who has no way to sign in yet, also chooses the email
 * address. All other sessions of the user end. The caller's `db` must use the system role.
 * @throws InvalidInput the address is taken, or cannot be changed this way
 */
export async function setPassword(caller: Ctx, input: z.input<typeof SetPasswordInput>): Promise<void> {
  const userId = sessionUser(caller)
  const { sessionId, passwordHash, name, email } = parseInput(SetPasswordInput, input)
  try {
    await inTransaction(caller, async (tx, caller) => {
      const [user] = await lockUser(tx, userId)
      if (!user) throw new NotFound('Your account was deleted.')
      const isNewEmail = Boolean(email) && email !== user.email
      const blockedReason = isNewEmail ? chooseEmailBlockedReason(user, await hasSignInMethod(tx, userId)) : null
      if (blockedReason) throw invalidEmail(blockedReason)
      await writePassword(tx, userId, passwordHash)
      const changes = { ...(name ? { name } : {}), ...(isNewEmail ? { email: email!, emailVerified: false } : {}) }
      if (Object.keys(changes).length > 0) await tx.update(users).set(changes).where(eq(users.id, userId))
      await tx.delete(sessions).where(and(eq(sessions.userId, userId), ne(sessions.id, sessionId)))
      await inEachTenant(tx, caller, userId, (ctx) => audit(tx, ctx, userAudit.setPassword, { id: userId, name: user.name }))
    })
  } catch (error) {
    if (sqlState(error) === UNIQUE_VIOLATION) throw invalidEmail('belongs to another user')
    throw error
  }
}

const invalidEmail = (message: string) => new InvalidInput([{ path: 'input.email', message }])
