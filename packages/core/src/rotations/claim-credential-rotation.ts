import { and, eq, isNull, or, type SQL, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { rotationPermissions } from './permissions.ts'
import { type CredentialRotation, credentialRotations } from './tables.ts'

/**
 * A claim that was not renewed for this long is lost, and another worker continues. An execution ends itself when it could not renew
 * its claim for `CLAIM_LIFETIME_S`, so that two never change the same node.
 */
export const LOST_AFTER_S = 60
export const CLAIM_LIFETIME_S = 40

/** Condition: the execution with this token owns the unfinished rotation. */
export const isClaimedBy = (ctx: { tenantId: string }, id: string, token: string): SQL | undefined =>
  and(
    eq(credentialRotations.tenantId, ctx.tenantId),
    eq(credentialRotations.id, id),
    eq(credentialRotations.claimToken, token),
    isNull(credentialRotations.finishedAt),
    isNull(credentialRotations.pausedAt),
  )

/**
 * Claims a rotation for one execution, or renews its claim. Each execution has its own token: a worker that receives a second queue
 * entry of the same rotation does not get it twice.
 * @returns null when another execution has it, it is paused, or it ended
 */
export async function claimCredentialRotation(
  ctx: Ctx,
  { id, token }: { id: string; token: string },
): Promise<CredentialRotation | null> {
  authorize(ctx, rotationPermissions.report)
  const [row] = await ctx.db
    .update(credentialRotations)
    .set({ claimToken: token, touchedAt: sql`now()` })
    .where(
      and(
        visibleTo(ctx, credentialRotations),
        eq(credentialRotations.id, id),
        isNull(credentialRotations.finishedAt),
        isNull(credentialRotations.pausedAt),
        or(
          isNull(credentialRotations.touchedAt),
          eq(credentialRotations.claimToken, token),
          sql`${credentialRotations.touchedAt} < now() - make_interval(secs => ${LOST_AFTER_S})`,
        ),
      ),
    )
    .returning()
  return row ?? null
}
