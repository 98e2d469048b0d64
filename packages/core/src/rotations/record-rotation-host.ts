import { and, eq, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import { credentialRotationChanged } from './change-events.ts'
import { rotationPermissions } from './permissions.ts'
import { credentialRotationHosts } from './tables.ts'

export type RotationStep = 'INSTALL' | 'REMOVE' | 'RESTORE'
const COLUMN = { INSTALL: 'installedAt', REMOVE: 'doneAt', RESTORE: 'restoredAt' } as const

/**
 * Records the result of a step of a rotation on one node.
 * @param error for the operator; null when the step succeeded
 */
export async function recordRotationHost(
  ctx: Ctx,
  { id, rotationId, step, error }: { id: string; rotationId: string; step: RotationStep; error: string | null },
): Promise<void> {
  authorize(ctx, rotationPermissions.report)
  await ctx.db
    .update(credentialRotationHosts)
    .set({
      error: error && sanitizeForPostgres(error),
      ...(error === null ? { [COLUMN[step]]: sql`now()` } : {}),
      updatedAt: sql`now()`,
    })
    .where(and(visibleTo(ctx, credentialRotationHosts), eq(credentialRotationHosts.id, id)))
  ctx.notify(credentialRotationChanged({ id: rotationId, tenantId: ctx.tenantId }))
}
