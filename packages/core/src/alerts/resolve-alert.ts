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
import { type Alert, alerts } from './tables.ts'

export const ResolveAlertInput = z.object({ id: Id, note: multilineText(2000).nullish() })

/**
 * End an alert of something that is meant to stay as it is: accelerators that were taken out on purpose. What the node has now is
 * what is expected of it from here on; the next one that is lost opens an alert again.
 * @throws NotFound, Conflict it is over, or ends by itself
 */
export async function resolveAlertManually(ctx: Ctx, input: z.input<typeof ResolveAlertInput>): Promise<Alert> {
  authorize(ctx, alertPermissions.resolve)
  const { id, note } = parseInput(ResolveAlertInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const mine = and(visibleTo(ctx, alerts), eq(alerts.id, id))
    const [before] = await tx.select().from(alerts).where(mine).for('update')
    if (!before) throw new NotFound(`There is no alert ${id}.`)
    const refused = alertResolveBlockedReason(ctx.actor, before)
    if (refused) throw new Conflict(refused)
    const { tenantId, nodeId, cluster, kind, key, evidence } = before
    for (const changeEvent of await resolveAlerts(tx, [{ tenantId, nodeId, cluster, kinds: [kind] }])) ctx.notify(changeEvent)
    const [alert] = await tx
      .update(alerts)
      .set({
        acknowledgedAt: sql`now()`,
        ...actorColumns(ctx, 'acknowledged'),
        acknowledgment: note?.trim() || before.acknowledgment,
      })
      .where(mine)
      .returning()
    await audit(tx, ctx, alertAudit.resolve, { id, name: kind }, { key, evidence, note: note ?? '' })
    return alert!
  })
}
