import { and, eq, exists, isNull, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { isClaimedBy } from './claim-credential-rotation.ts'
import { rotationPermissions } from './permissions.ts'
import type { RotationStep } from './record-rotation-host.ts'
import { credentialRotationHosts, credentialRotations } from './tables.ts'
import { unfinishedRunOnNode } from './unfinished-run-on-node.ts'

type Start = { id: string; nodeId: string; rotationId: string; token: string; step: RotationStep; waitsForRuns: boolean }

/**
 * Starts a step of a rotation on one node; `recordRotationHost` ends it.
 *
 * A run marks itself as started and then waits for changes of its nodes. This marks the change and then looks for started runs. So at
 * least one of the two waits, and no run logs in with a secret that is being replaced.
 * @param waitsForRuns false for a step after which the secrets of started runs still work
 * @returns READY; CANCELED when the rotation was canceled since the round began, or is no longer claimed; or the run that uses the node
 */
export async function startRotationStep(ctx: Ctx, start: Start): Promise<'READY' | 'CANCELED' | { run: string }> {
  authorize(ctx, rotationPermissions.report)
  const { id, nodeId, rotationId, token, step, waitsForRuns } = start
  const findRun = () => (waitsForRuns ? unfinishedRunOnNode(ctx, nodeId) : null)
  const before = await findRun()
  if (before) return { run: before }
  const host = and(visibleTo(ctx, credentialRotationHosts), eq(credentialRotationHosts.id, id))
  const isCurrent = ctx.db
    .select({ id: credentialRotations.id })
    .from(credentialRotations)
    .where(
      and(isClaimedBy(ctx, rotationId, token), step === 'INSTALL' ? isNull(credentialRotations.cancelRequestedAt) : undefined),
    )
  const [started] = await ctx.db
    .update(credentialRotationHosts)
    .set({ changingSince: waitsForRuns ? sql`now()` : null })
    .where(and(host, exists(isCurrent)))
    .returning({ id: credentialRotationHosts.id })
  if (!started) return 'CANCELED'
  const run = await findRun()
  if (!run) return 'READY'
  await ctx.db.update(credentialRotationHosts).set({ changingSince: null }).where(host)
  return { run }
}
