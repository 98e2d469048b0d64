import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { actorColumns, authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict, NotFound, parseInput } from '../kernel/errors.ts'
import { Id, multilineText } from '../kernel/input.ts'
import { alertAudit } from './audit-actions.ts'
import { alertPermissions } from './permissions.ts'
import { alertResolveBlockedReason } from './policy.ts'
import { resolveAlerts } from './resolve-alerts.ts'
import { type Alert, alerts, currentXid } from './tables.ts'

export const ResolveAlertInput = z.object({ id: Id, note: multilineText(2000).nullish() })

/**
 * Resolves an alert with an intended cause, for example removed accelerators: the current hardware becomes the expected one. The next
 * loss, or the next failed scale-out, raises a new alert.
 * @throws NotFound, Conflict when it is resolved, or resolves automatically
 */
export async function resolveAlertManually(ctx: Ctx, input: z.input<typeof ResolveAlertInput>): Promise<Alert> {
  authorize(ctx, alertPermissions.resolve)
  const { id, note } = parseInput(ResolveAlertInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const scope = and(visibleTo(ctx, alerts), eq(alerts.id, id))
    const [before] = await tx.select().from(alerts).where(scope).for('update')
    if (!before) throw new NotFound(`There is no alert ${id}.`)
    const blockedReason = alertResolveBlockedReason(ctx.actor, before)
    if (blockedReason) throw new Conflict(blockedReason)
    const { tenantId, nodeId, cluster, kind, key, evidence } = before
    for (const changeEvent of await resolveAlerts(tx, [{ tenantId, nodeId, cluster, kinds: [kind] }])) ctx.notify(changeEvent)
    const [alert] = await tx
      .update(alerts)
      .set({
        acknowledgedAt: sql`now()`,
        ...actorColumns(ctx, 'acknowledged'),
        acknowledgment: note?.trim() || before.acknowledgment,
        changedXid: currentXid,
      })
      .where(scope)
      .returning()
    await audit(tx, ctx, alertAudit.resolve, { id, name: kind }, { key, evidence, note: note ?? '' })
    return alert!
  })
}
