import { and, eq, exists, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import { credentialRotationChanged } from './change-events.ts'
import { isClaimedBy } from './claim-credential-rotation.ts'
import { rotationPermissions } from './permissions.ts'
import { credentialRotationHosts, credentialRotations } from './tables.ts'

export type RotationStep = 'INSTALL' | 'REMOVE' | 'RESTORE'
const COLUMN = { INSTALL: 'installedAt', REMOVE: 'doneAt', RESTORE: 'restoredAt' } as const

/**
 * Records the result of a step of a rotation on one node. Has no effect after the execution lost its claim: the next one repeats the step.
 * @param error for the operator; null when the step succeeded
 */
export async function recordRotationHost(
  ctx: Ctx,
  {
    id,
    rotationId,
    token,
    step,
    error,
  }: { id: string; rotationId: string; token: string; step: RotationStep; error: string | null },
): Promise<void> {
  authorize(ctx, rotationPermissions.report)
  const isClaimed = ctx.db
    .select({ id: credentialRotations.id })
    .from(credentialRotations)
    .where(isClaimedBy(ctx, rotationId, token))
  await ctx.db
    .update(credentialRotationHosts)
    .set({
      error: error && sanitizeForPostgres(error),
      ...(error === null ? { [COLUMN[step]]: sql`now()` } : {}),
      changingSince: null,
      updatedAt: sql`now()`,
    })
    .where(and(visibleTo(ctx, credentialRotationHosts), eq(credentialRotationHosts.id, id), exists(isClaimed)))
  ctx.notify(credentialRotationChanged({ id: rotationId, tenantId: ctx.tenantId }))
}
