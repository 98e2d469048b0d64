import { and, eq, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorizeNodes } from '../groups/index.ts'
import { authorizeSomewhere, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { powerRunAudit } from './audit-actions.ts'
import { powerRunCancelRequested, powerRunChanged } from './change-events.ts'
import { powerActionPermission, powerPermissions } from './permissions.ts'
import { type PowerRun, powerRunItems, powerRuns } from './tables.ts'

/**
 * Requests the end of a power run: no further command is sent. Commands that were sent are still verified. The caller needs the permission
 * of the action for the nodes that have no result.
 * @throws Forbidden, NotFound, Conflict the run has ended
 */
export async function cancelPowerRun(ctx: Ctx, input: z.input<typeof IdInput>): Promise<PowerRun> {
  authorizeSomewhere(ctx, powerPermissions.on)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const unfinished = and(visibleTo(ctx, powerRuns), eq(powerRuns.id, id), isNull(powerRuns.finishedAt))
    const [before] = await tx.select().from(powerRuns).where(unfinished).for('update')
    if (!before)
      throw await notFoundOrConflict(tx, ctx, powerRuns, id, 'power run', (run) => `The power run has ended: ${run.status}.`)
    const open = await tx
      .select({ nodeId: powerRunItems.nodeId })
      .from(powerRunItems)
      .where(and(eq(powerRunItems.runId, id), isNull(powerRunItems.result)))
    const nodeIds = open.flatMap(({ nodeId }) => nodeId ?? [])
    await authorizeNodes(tx, ctx, powerActionPermission(before.action), nodeIds)
    if (before.cancelRequestedAt) return before
    return requestPowerRunCancel(tx, ctx, id)
  })
}

/** Requests the end of an unfinished power run in the transaction of a verb, which has authorized its caller. */
export async function requestPowerRunCancel(tx: Tx, ctx: Ctx, id: string): Promise<PowerRun> {
  const [run] = await tx
    .update(powerRuns)
    .set({ cancelRequestedAt: sql`now()`, canceledByName: ctx.actor.name })
    .where(and(visibleTo(ctx, powerRuns), eq(powerRuns.id, id), isNull(powerRuns.finishedAt)))
    .returning()
  await audit(tx, ctx, powerRunAudit.cancel, { id, name: run!.action })
  ctx.notify(powerRunCancelRequested(run!))
  ctx.notify(powerRunChanged(run!))
  return run!
}
