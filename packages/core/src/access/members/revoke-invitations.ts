import { and, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import { audit } from '../../audit/index.ts'
import { actorColumns, type Ctx, type Tx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { invitationAudit } from '../audit-actions.ts'
import { findRoles } from '../roles/role-rows.ts'
import { type Invitation, invitations } from '../tables.ts'

const isOpenOf = (ctx: Ctx, userId: string): SQL =>
  and(
    visibleTo(ctx, invitations),
    eq(invitations.createdById, userId),
    isNull(invitations.acceptedAt),
    isNull(invitations.revokedAt),
  )!

/** Revokes the open invitations that a user created in the tenant: an invitation gives no more than its author has. */
export const revokeInvitationsOf = (tx: Tx, ctx: Ctx, userId: string): Promise<void> => revoke(tx, ctx, isOpenOf(ctx, userId))

/** Revokes the open invitations of a user for roles that include more than `role`. */
export async function revokeInvitationsAbove(tx: Tx, ctx: Ctx, userId: string, role: string): Promise<void> {
  const open: Invitation[] = await tx.select().from(invitations).where(isOpenOf(ctx, userId))
  const roles = await findRoles(tx, ctx, [role, ...open.map((each) => each.role)])
  const { permissions } = roles.get(role)!
  const above = open.filter((each) => [...roles.get(each.role)!.permissions].some((name) => !permissions.has(name)))
  if (above.length === 0) return
  await revoke(
    tx,
    ctx,
    inArray(
      invitations.id,
      above.map(({ id }) => id),
    ),
  )
}

async function revoke(tx: Tx, ctx: Ctx, condition: SQL): Promise<void> {
  const revoked = await tx
    .update(invitations)
    .set({ revokedAt: sql`now()`, ...actorColumns(ctx, 'revoked') })
    .where(condition)
    .returning()
  await audit(
    tx,
    ctx,
    invitationAudit.revoke,
    revoked.map(({ id, email }) => ({ id, name: email })),
  )
}
