import { and, eq, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { actorColumns, authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../../kernel/db/rows.ts'
import { parseInput } from '../../kernel/errors.ts'
import { IdInput } from '../../kernel/input.ts'
import { invitationAudit } from '../audit-actions.ts'
import { memberPermissions } from '../permissions.ts'
import { invitationBlockedReason } from '../policy.ts'
import { type Invitation, invitations } from '../tables.ts'

/**
 * Revokes an invitation: its link no longer works.
 * @throws NotFound; Conflict it was already accepted or revoked
 */
export async function revokeInvitation(ctx: Ctx, input: z.input<typeof IdInput>): Promise<Invitation> {
  authorize(ctx, memberPermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const [invitation] = await tx
      .update(invitations)
      .set({ revokedAt: sql`now()`, ...actorColumns(ctx, 'revoked') })
      .where(
        and(visibleTo(ctx, invitations), eq(invitations.id, id), isNull(invitations.acceptedAt), isNull(invitations.revokedAt)),
      )
      .returning()
    if (!invitation) throw await notFoundOrConflict(tx, ctx, invitations, id, 'invitation', invitationBlockedReason)
    await audit(tx, ctx, invitationAudit.revoke, { id, name: invitation.email })
    return invitation
  })
}
