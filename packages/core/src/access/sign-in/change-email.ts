import { and, eq, gt, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction, type SystemCtx, type Tx } from '../../kernel/context.ts'
import { sqlState, UNIQUE_VIOLATION } from '../../kernel/db/rows.ts'
import { Conflict, InvalidInput, NotFound, parseInput } from '../../kernel/errors.ts'
import { userAudit } from '../audit-actions.ts'
import { EmailAddress } from '../members/invite-member.ts'
import { memberPermissions } from '../permissions.ts'
import { type User, users, verifications } from '../tables.ts'
import { hashToken, makeToken } from '../tokens/make-token.ts'
import { lockUser, sessionUser } from './passkeys.ts'
import { inEachTenant } from './reset-password.ts'

export const RequestEmailChangeInput = z.object({ email: EmailAddress })
export const ConfirmEmailChangeInput = z.object({ token: z.string().min(1).max(300) })
export const ChangeEmailInput = z.object({ email: EmailAddress, newEmail: EmailAddress })

const MINUTES = 60
const PendingChange = z.object({ email: z.string(), hash: z.string() })
const identifierOf = (userId: string) => `email-change:${userId}`

/**
 * Starts a change of the caller's email address. It takes effect with the token, which must be sent to the new address. Replaces an
 * earlier start. Whether the address has an account is not revealed. The caller's `db` must use the system role.
 * @throws InvalidInput it is the caller's address
 */
export async function requestEmailChange(
  caller: Ctx,
  input: z.input<typeof RequestEmailChangeInput>,
): Promise<{ user: User; email: string; token: string }> {
  const userId = sessionUser(caller)
  const { email } = parseInput(RequestEmailChangeInput, input)
  return inTransaction(caller, async (tx, caller) => {
    const [user] = await lockUser(tx, userId)
    if (!user) throw new NotFound('Your account was deleted.')
    if (user.email === email) throw new InvalidInput([{ path: 'input.email', message: 'is already your address' }])
    const { token, hash } = makeToken('emailChange')
    await tx.delete(verifications).where(eq(verifications.identifier, identifierOf(userId)))
    await tx.insert(verifications).values({
      identifier: identifierOf(userId),
      value: JSON.stringify({ email, hash }),
      expiresAt: sql`now() + make_interval(mins => ${MINUTES})`,
    })
    await inEachTenant(tx, caller, userId, (ctx) => audit(tx, ctx, userAudit.requestEmailChange, user, { email }))
    return { user, email, token }
  })
}

/**
 * Completes the change of the caller's email address. Only the user who started it can, so that nobody who merely opens the link gives
 * their address to another account. The caller's `db` must use the system role.
 * @throws NotFound the token is not valid; Conflict the address has another account
 */
export async function confirmEmailChange(
  caller: Ctx,
  input: z.input<typeof ConfirmEmailChangeInput>,
): Promise<{ before: string; email: string }> {
  const userId = sessionUser(caller)
  const { token } = parseInput(ConfirmEmailChangeInput, input)
  return inTransaction(caller, async (tx, caller) => {
    const [user] = await lockUser(tx, userId)
    const isOpen = and(eq(verifications.identifier, identifierOf(userId)), gt(verifications.expiresAt, sql`now()`))
    const [row] = await tx.select().from(verifications).where(isOpen)
    const pending = row && PendingChange.parse(JSON.parse(row.value))
    if (!user || !row || pending?.hash !== hashToken(token))
      throw new NotFound(
        'This link was already used, is older than one hour, or belongs to another account. Sign in with the account whose address you change.',
      )
    await tx.delete(verifications).where(eq(verifications.id, row.id))
    await writeEmail(tx, caller, user, { email: pending.email, emailVerified: true })
    return { before: user.email, email: pending.email }
  })
}

/**
 * Changes the email address of a user. Called only by `muster-admin` on the server, for installations without a mail server. Nobody has
 * proven that the address is the user's, so it counts as not verified.
 * @throws NotFound; Conflict the address has another account
 */
export async function changeEmail(caller: SystemCtx, input: z.input<typeof ChangeEmailInput>): Promise<User> {
  authorize(caller, memberPermissions.changeEmail)
  const { email, newEmail } = parseInput(ChangeEmailInput, input)
  return inTransaction(caller, async (tx, caller) => {
    const [user] = await tx.select().from(users).where(eq(users.email, email)).for('no key update')
    if (!user) throw new NotFound(`There is no user with the address ${email}.`)
    if (user.isServiceAccount) throw new Conflict(`${user.name} is a service account and has no address.`)
    await writeEmail(tx, caller, user, { email: newEmail, emailVerified: false })
    return { ...user, email: newEmail }
  })
}

async function writeEmail(
  tx: Tx,
  caller: SystemCtx,
  user: User,
  fields: { email: string; emailVerified: boolean },
): Promise<void> {
  try {
    await tx.update(users).set(fields).where(eq(users.id, user.id))
  } catch (error) {
    if (sqlState(error) !== UNIQUE_VIOLATION) throw error
    throw new Conflict(`The address ${fields.email} belongs to another account. Use another address.`)
  }
  // Links that were sent to the former address.
  await tx.delete(verifications).where(eq(verifications.value, user.id))
  const details = { from: user.email, to: fields.email }
  const count = await inEachTenant(tx, caller, user.id, (ctx) => audit(tx, ctx, userAudit.changeEmail, user, details))
  if (count === 0) await audit(tx, { ...caller, tenantId: null }, userAudit.changeEmail, user, details)
}
