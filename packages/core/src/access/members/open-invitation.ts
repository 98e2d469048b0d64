import { and, eq, gt, isNull, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../kernel/db/client.ts'
import { type Invitation, invitations, tenants, users } from '../tables.ts'
import { hashToken } from '../tokens/make-token.ts'

export const INVITATION_INVALID = 'This invitation was already used or revoked, or has expired. Ask for a new one.'

/** Condition on an invitation: it has this token and was not revoked, and its tenant is not suspended. */
export const openInvitation = (token: string): SQL =>
  and(
    eq(invitations.hash, hashToken(token)),
    isNull(invitations.revokedAt),
    sql`exists (select from ${tenants} tenant where tenant.id = ${invitations.tenantId} and tenant.suspended_at is null)`,
  )!

export type OpenInvitation = Pick<Invitation, 'email' | 'role' | 'expiresAt'> & { tenantName: string; hasAccount: boolean }

/** What the holder of an invitation's token sees before accepting; null when the token does not work. */
export async function findInvitationByToken(db: Db, token: string): Promise<OpenInvitation | null> {
  const [found] = await db
    .select({
      email: invitations.email,
      role: invitations.role,
      expiresAt: invitations.expiresAt,
      tenantName: tenants.name,
      hasAccount: sql<boolean>`exists (select from ${users} account where account.email = ${invitations.email})`,
    })
    .from(invitations)
    .innerJoin(tenants, eq(tenants.id, invitations.tenantId))
    .where(and(openInvitation(token), isNull(invitations.acceptedAt), gt(invitations.expiresAt, sql`now()`)))
  return found ?? null
}
