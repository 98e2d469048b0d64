import { and, eq, type sql } from 'drizzle-orm'
import type { z } from 'zod'
import { type AuditAction, audit, changeOf } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict, NotFound, parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { credentialRotationChanged } from './change-events.ts'
import { rotationPermissions } from './permissions.ts'
import { credentialRotationQueue } from './queues.ts'
import { type CredentialRotation, credentialRotationHosts, credentialRotations } from './tables.ts'

export type Decision = {
  action: AuditAction
  reason: (rotation: CredentialRotation) => string | null
  changes: Partial<Record<'completeRequestedAt' | 'cancelRequestedAt', ReturnType<typeof sql> | null>>
  /** Whether failed nodes are tried again. */
  retryFailedHosts: boolean
}

/**
 * Applies a user's decision about a rotation and triggers a worker.
 * @throws NotFound, Conflict with the decision's reason
 */
export async function decide(
  ctx: Ctx,
  input: z.input<typeof IdInput>,
  { action, reason, changes, retryFailedHosts }: Decision,
): Promise<CredentialRotation> {
  authorize(ctx, rotationPermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const scope = and(visibleTo(ctx, credentialRotations), eq(credentialRotations.id, id))
    const [before] = await tx.select().from(credentialRotations).where(scope).for('update')
    if (!before) throw new NotFound(`There is no credential rotation ${id}.`)
    const blockedReason = reason(before)
    if (blockedReason) throw new Conflict(blockedReason)
    if (retryFailedHosts)
      await tx
        .update(credentialRotationHosts)
        .set({ error: null })
        .where(and(visibleTo(ctx, credentialRotationHosts), eq(credentialRotationHosts.rotationId, id)))
    const [rotation] = await tx
      .update(credentialRotations)
      .set({ ...changes, pausedAt: null })
      .where(scope)
      .returning()
    await ctx.queue.send(tx, credentialRotationQueue, [{ id, tenantId: ctx.tenantId }])
    const change = changeOf(credentialRotations, before, rotation!)
    await audit(tx, ctx, action, { id: before.credentialId, name: before.name }, {}, { change })
    ctx.notify(credentialRotationChanged({ id, tenantId: ctx.tenantId }))
    return rotation!
  })
}
