import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { LOST_AFTER_S } from './claim-credential-rotation.ts'
import { rotationPermissions } from './permissions.ts'
import { credentialRotationHosts, credentialRotations } from './tables.ts'

/** Whether a rotation is changing the secret of one of these nodes. A run reads its secrets only after that. */
export async function isSecretChanging(ctx: Ctx, nodeIds: string[]): Promise<boolean> {
  authorize(ctx, rotationPermissions.report)
  const rows = await ctx.db
    .select({ id: credentialRotationHosts.id })
    .from(credentialRotationHosts)
    .innerJoin(credentialRotations, eq(credentialRotations.id, credentialRotationHosts.rotationId))
    .where(
      and(
        visibleTo(ctx, credentialRotationHosts),
        isOneOf(credentialRotationHosts.nodeId, nodeIds),
        isNotNull(credentialRotationHosts.changingSince),
        isNull(credentialRotations.finishedAt),
        isNull(credentialRotations.pausedAt),
        // The mark of a lost worker.
        sql`${credentialRotations.touchedAt} > now() - make_interval(secs => ${LOST_AFTER_S})`,
      ),
    )
    .limit(1)
  return rows.length > 0
}
