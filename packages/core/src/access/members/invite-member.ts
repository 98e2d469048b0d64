import { and, eq, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { IdempotencyKey, idempotent, shownOnce } from '../../idempotency/index.ts'
import { actorColumns, authorize, type Ctx, createdBy } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, parseInput } from '../../kernel/errors.ts'
import { invitationAudit } from '../audit-actions.ts'
import { memberPermissions } from '../permissions.ts'
import { assertGrantable } from '../roles/assert-grantable.ts'
import { RoleName } from '../roles/role-fields.ts'
import { type Invitation, invitations, members, users } from '../tables.ts'
import { makeToken } from '../tokens/make-token.ts'

const DAY_S = 86_400

export const EmailAddress = z
  .string()
  .trim()
  .max(254, 'must have at most 254 characters')
  .pipe(z.email('must be an email address'))
  .transform((email) => email.toLowerCase())

export const InviteMemberInput = z.object({
  email: EmailAddress,
  role: RoleName,
  expiresInSeconds: z
    .number()
    .int('must be a whole number')
    .min(3600, 'must be at least 3600')
    .max(30 * DAY_S, 'must be at most 2592000')
    .nullish()
    .transform((seconds) => seconds ?? 7 * DAY_S),
  idempotencyKey: IdempotencyKey,
})

type Invited = { token: string; invitation: Invitation }

/**
 * Invites a person to the tenant. The token is returned only here. An earlier open invitation of the address is revoked.
 * @throws Forbidden the role is above the caller's; Conflict the address belongs to a member
 */
export async function inviteMember(ctx: Ctx, input: z.input<typeof InviteMemberInput>): Promise<Invited> {
  authorize(ctx, memberPermissions.write)
  const { idempotencyKey, ...fields } = parseInput(InviteMemberInput, input)
  const { email, role, expiresInSeconds } = fields
  const { token, hash } = makeToken('invitation')
  const result = shownOnce<Invited>(
    `The idempotency key ${idempotencyKey} already created an invitation for ${email}, and its link is shown once. Invite again with a new key.`,
  )
  return idempotent(ctx, { verb: 'inviteMember', key: idempotencyKey, input: fields, result }, async (tx, ctx) => {
    await assertGrantable(tx, ctx, memberPermissions.write, role)
    const [existing] = await tx
      .select({ name: users.name })
      .from(members)
      .innerJoin(users, eq(users.id, members.userId))
      .where(and(visibleTo(ctx, members), eq(users.email, email)))
    if (existing) throw new Conflict(`${existing.name} (${email}) is already a member.`)
    await tx
      .update(invitations)
      .set({ revokedAt: sql`now()`, ...actorColumns(ctx, 'revoked') })
      .where(
        and(
          visibleTo(ctx, invitations),
          eq(invitations.email, email),
          isNull(invitations.acceptedAt),
          isNull(invitations.revokedAt),
        ),
      )
    const [invitation] = await tx
      .insert(invitations)
      .values({
        tenantId: ctx.tenantId,
        email,
        role,
        hash,
        ...createdBy(ctx),
        expiresAt: sql`now() + make_interval(secs => ${expiresInSeconds})`,
      })
      .onConflictDoNothing()
      .returning()
    if (!invitation) throw new Conflict(`Another member invited ${email} at the same time. Reload the invitations.`)
    await audit(tx, ctx, invitationAudit.create, { id: invitation.id, name: email }, { role })
    return { token, invitation }
  })
}
