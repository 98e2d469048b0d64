import { and, eq, isNull, or, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { rotationPermissions } from './permissions.ts'
import { type CredentialRotation, credentialRotations } from './tables.ts'

/** A worker that has not renewed its claim for this long has lost the rotation. */
export const LOST_AFTER_S = 60

/**
 * Claims a rotation for the calling worker, or renews its claim.
 * @returns null when another worker has it, it is paused, or it ended
 */
export async function claimCredentialRotation(ctx: Ctx, { id }: { id: string }): Promise<CredentialRotation | null> {
  authorize(ctx, rotationPermissions.report)
  const [row] = await ctx.db
    .update(credentialRotations)
    .set({ workerId: ctx.actor.id, touchedAt: sql`now()` })
    .where(
      and(
        visibleTo(ctx, credentialRotations),
        eq(credentialRotations.id, id),
        isNull(credentialRotations.finishedAt),
        isNull(credentialRotations.pausedAt),
        or(
          isNull(credentialRotations.touchedAt),
          eq(credentialRotations.workerId, ctx.actor.id ?? ''),
          sql`${credentialRotations.touchedAt} < now() - make_interval(secs => ${LOST_AFTER_S})`,
        ),
      ),
    )
    .returning()
  return row ?? null
}
