import { and, isNull, lt, or, sql } from 'drizzle-orm'
import { authorize, inTransaction, type SystemCtx } from '../kernel/context.ts'
import { LOST_AFTER_S } from './claim-credential-rotation.ts'
import { rotationPermissions } from './permissions.ts'
import { credentialRotationQueue } from './queues.ts'
import { credentialRotations } from './tables.ts'

/**
 * Reconciler, over all tenants: enqueues rotations again that lost their worker or were never claimed.
 * @returns number of enqueued rotations
 */
export async function reassignCredentialRotations(ctx: SystemCtx): Promise<number> {
  authorize(ctx, rotationPermissions.report)
  const lost = sql`now() - make_interval(secs => ${LOST_AFTER_S})`
  const entries = await ctx.db
    .select({ id: credentialRotations.id, tenantId: credentialRotations.tenantId })
    .from(credentialRotations)
    .where(
      and(
        isNull(credentialRotations.finishedAt),
        isNull(credentialRotations.pausedAt),
        or(
          lt(credentialRotations.touchedAt, lost),
          and(isNull(credentialRotations.touchedAt), lt(credentialRotations.createdAt, lost)),
        ),
      ),
    )
  if (entries.length > 0) await inTransaction(ctx, (tx) => ctx.queue.send(tx, credentialRotationQueue, entries))
  return entries.length
}
