import { isDeepStrictEqual } from 'node:util'
import { and, eq, isNull } from 'drizzle-orm'
import { alerts, raiseAlerts, resolveAlerts } from '../alerts/index.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import type { Difference } from './objects.ts'
import type { OpenchamiTarget } from './tables.ts'

const KIND = 'openchami_out_of_sync'
/** As many objects are named in an alert. */
const MAX_NAMED = 10

/** The facts of an alert. */
export type TargetEvidence = { differenceCount: number; objects: string[]; error: string | null }

/**
 * Raises or resolves the alert of the tenant after a check. A single failed check raises none: the service may have been restarted.
 * @param target as it was before the check
 * @param drift objects that are missing or different
 */
export async function updateTargetAlert(
  tx: Tx,
  ctx: Ctx,
  target: OpenchamiTarget,
  error: string | null,
  drift: readonly Difference[],
): Promise<void> {
  if (error === null && drift.length === 0) return resolveTargetAlert(tx, ctx)
  if (error !== null && !target.failingSince) return
  const objects = drift.slice(0, MAX_NAMED).map(({ object }) => object)
  const evidence: TargetEvidence = { differenceCount: drift.length, objects, error }
  const [open] = await tx
    .select({ evidence: alerts.evidence })
    .from(alerts)
    .where(and(visibleTo(ctx, alerts), eq(alerts.kind, KIND), isNull(alerts.resolvedAt)))
  if (open && isDeepStrictEqual(open.evidence, evidence)) return
  for (const event of await raiseAlerts(tx, [{ tenantId: ctx.tenantId, nodeId: null, kind: KIND, evidence }])) ctx.notify(event)
}

/** Resolves the alert of the tenant, also when nothing is checked any more. */
export async function resolveTargetAlert(tx: Tx, ctx: Ctx): Promise<void> {
  for (const event of await resolveAlerts(tx, [{ tenantId: ctx.tenantId, nodeId: null, kinds: [KIND] }])) ctx.notify(event)
}
