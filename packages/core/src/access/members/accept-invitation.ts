import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { type Ctx, inTransaction, type SystemCtx } from '../../kernel/context.ts'
import { Conflict, Forbidden, NotFound, parseInput } from '../../kernel/errors.ts'
import { Id, singleLineText } from '../../kernel/input.ts'
import { invitationAudit, memberAudit } from '../audit-actions.ts'
import { unsignedUser } from '../sign-in/reset-password.ts'
import { accounts, type Invitation, invitations, type Member, members, users } from '../tables.ts'
import { INVITATION_INVALID, openInvitation } from './open-invitation.ts'

export const AcceptInvitationInput = z.object({
  token: z.string(),
  /** The signed-in user; null when `newUser` is created. */
  userId: Id.nullable(),
  newUser: z.object({ name: singleLineText(100), passwordHash: z.string() }).nullable(),
})

/**
 * Makes the holder of an invitation's token a member. The token works once. A person with an account must be signed in: the token
 * alone never gives access to an existing account.
 * @throws NotFound the token is unknown, used, expired or revoked
 * @throws Forbidden the signed-in user has another email address; Conflict an account exists, or the user is already a member
 */
export async function acceptInvitation(
  caller: SystemCtx,
  input: z.input<typeof AcceptInvitationInput>,
): Promise<{ member: Member; email: string }> {
  const { token, userId, newUser } = parseInput(AcceptInvitationInput, input)
  return inTransaction(caller, async (tx, caller) => {
    const [invitation] = await tx
      .update(invitations)
      .set({ acceptedAt: sql`now()` })
      .where(and(openInvitation(token), isNull(invitations.acceptedAt), gt(invitations.expiresAt, sql`now()`)))
      .returning()
    if (!invitation) throw new NotFound(INVITATION_INVALID)
    const { email, tenantId, role } = invitation
    const [account] = await tx.select().from(users).where(eq(users.email, email))
    if (account && account.id !== userId) throw accountExists(invitation, userId)
    if (!account && userId) throw new Forbidden(`The invitation is for ${email}. Sign out first, then open the link again.`)
    const user = account ?? (await createUser(email, newUser))
    const [member] = await tx.insert(members).values({ tenantId, userId: user.id, role }).onConflictDoNothing().returning()
    if (!member) throw new Conflict('You are already a member of this tenant.')
    await tx.update(invitations).set({ acceptedById: user.id }).where(eq(invitations.id, invitation.id))
    const ctx: Ctx = { ...caller, systemDb: caller.db, tenantId, actor: unsignedUser(user) }
    await audit(tx, ctx, invitationAudit.accept, { id: invitation.id, name: email })
    await audit(tx, ctx, memberAudit.add, { id: member.id, name: user.name }, { role })
    return { member, email }

    async function createUser(email: string, fields: typeof newUser) {
      if (!fields) throw new Conflict(`There is no account for ${email} yet. Choose a name and a password.`)
      const [user] = await tx.insert(users).values({ name: fields.name, email }).onConflictDoNothing().returning()
      if (!user) throw new Conflict(`An account for ${email} was created at the same time. Sign in and open the link again.`)
      // better-auth's form of an account with a password.
      await tx
        .insert(accounts)
        .values({ userId: user.id, accountId: user.id, providerId: 'credential', password: fields.passwordHash })
      return user
    }
  })
}

const accountExists = ({ email }: Invitation, userId: string | null) =>
  userId
    ? new Forbidden(`The invitation is for ${email}. Sign in with that account, then open the link again.`)
    : new Conflict(`There is an account for ${email}. Sign in with it, then open the link again.`)
