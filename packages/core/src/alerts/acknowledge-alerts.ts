import { and, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { actorColumns, authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { NotFound, parseInput } from '../kernel/errors.ts'
import { Ids, multilineText } from '../kernel/input.ts'
import { alertAudit } from './audit-actions.ts'
import { alertChanged } from './change-events.ts'
import { alertPermissions } from './permissions.ts'
import { type Alert, alerts, currentXid } from './tables.ts'

export const AcknowledgeAlertsInput = z.object({ ids: Ids, note: multilineText(2000).nullish() })

/**
 * Acknowledges alerts with an optional note; a later note replaces an earlier one. They stay open until their condition ends.
 * @throws NotFound when one of them does not exist
 */
export async function acknowledgeAlerts(ctx: Ctx, input: z.input<typeof AcknowledgeAlertsInput>): Promise<Alert[]> {
  authorize(ctx, alertPermissions.write)
  const { ids, note } = parseInput(AcknowledgeAlertsInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const scope = and(visibleTo(ctx, alerts), isOneOf(alerts.id, ids))
    // Same lock order as in raise-alerts.ts.
    await tx.select({ id: alerts.id }).from(alerts).where(scope).orderBy(alerts.kind, alerts.key).for('update')
    const rows = await tx
      .update(alerts)
      .set({
        acknowledgedAt: sql`now()`,
        ...actorColumns(ctx, 'acknowledged'),
        acknowledgment: note?.trim() || null,
        changedXid: currentXid,
      })
      .where(scope)
      .returning()
    const found = new Map(rows.map((row) => [row.id, row]))
    const missing = ids.find((id) => !found.has(id))
    if (missing) throw new NotFound(`There is no alert ${missing}.`)
    await audit(
      tx,
      ctx,
      alertAudit.acknowledge,
      rows.map(({ id, kind, key }) => ({ id, name: kind, details: { key, note: note ?? '' } })),
    )
    for (const id of ids) ctx.notify(alertChanged({ id, tenantId: ctx.tenantId }))
    return ids.map((id) => found.get(id)!)
  })
}
