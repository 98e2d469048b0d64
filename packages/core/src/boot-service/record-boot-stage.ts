import { and, isNull, lt, sql } from 'drizzle-orm'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { computeNodes } from '../nodes/tables.ts'
import { nodeBootChanged } from './change-events.ts'
import { bootPermissions } from './permissions.ts'
import type { BootStage } from './stages.ts'
import { bootAttempts, bootStageTimes } from './tables.ts'

/**
 * Records that nodes reached a stage: the interface for other domains. POWER_ON begins a new attempt and abandons the one in progress,
 * unless that began after it; every other stage belongs to the attempt in progress and is ignored without one.
 * @param at default: now
 */
export async function recordBootStage(
  ctx: Ctx,
  { nodeIds, stage, at }: { nodeIds: string[]; stage: BootStage; at?: Date },
): Promise<void> {
  authorize(ctx, bootPermissions.observe)
  if (nodeIds.length === 0) return
  await inTransaction(ctx, async (tx, ctx) => {
    const isOpen = and(visibleTo(ctx, bootAttempts), isOneOf(bootAttempts.nodeId, nodeIds), isNull(bootAttempts.finishedAt))
    // Locks in ID order, so that concurrent calls do not deadlock.
    const nodes = await tx
      .select({ id: computeNodes.id })
      .from(computeNodes)
      .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, nodeIds)))
      .orderBy(computeNodes.id)
      .for('no key update')
    const reachedAt = at ? sql`${at.toISOString()}::timestamptz` : sql`now()`
    if (stage === 'POWER_ON') {
      await tx
        .update(bootAttempts)
        .set({ finishedAt: sql`now()`, isAbandoned: true })
        .where(and(isOpen, lt(bootAttempts.startedAt, reachedAt)))
      if (nodes.length > 0)
        await tx
          .insert(bootAttempts)
          .values(
            nodes.map(({ id }) => ({ tenantId: ctx.tenantId, nodeId: id, cause: 'POWER_ON' as const, startedAt: reachedAt })),
          )
          .onConflictDoNothing()
    }
    const open = await tx.select({ id: bootAttempts.id }).from(bootAttempts).where(isOpen)
    if (open.length > 0)
      await tx
        .insert(bootStageTimes)
        .values(open.map(({ id }) => ({ attemptId: id, stage, reachedAt })))
        .onConflictDoNothing()
    if (stage === 'READY') await tx.update(bootAttempts).set({ finishedAt: sql`now()` }).where(isOpen)
    for (const { id } of nodes) ctx.notify(nodeBootChanged({ id, tenantId: ctx.tenantId }))
  })
}
