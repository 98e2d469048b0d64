import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit, authorize, type Ctx, createdBy, inTransaction } from '../context.ts'
import { visibleTo } from '../db/rows.ts'
import { Conflict, NotFound, parseInput } from '../errors.ts'
import { Id, prose } from '../input.ts'
import { whyNotEndAlert } from './policy.ts'
import { resolveAlerts } from './resolve-alerts.ts'
import { type Alert, alerts } from './tables.ts'

export const EndAlertInput = z.object({ id: Id, note: prose(2000).nullish() })

/**
 * End an alert of something that is meant to stay as it is: accelerators that were taken out on purpose. What the node has now is
 * what is expected of it from here on; the next one that is lost opens an alert again.
 * @throws NotFound, Conflict it is over, or ends by itself
 */
export async function endAlert(ctx: Ctx, input: z.input<typeof EndAlertInput>): Promise<Alert> {
  authorize(ctx, 'alert:end')
  const { id, note } = parseInput(EndAlertInput, input)
  const { createdById, createdByName } = createdBy(ctx)
  return inTransaction(ctx, async (tx, afterwards) => {
    const mine = and(visibleTo(ctx, alerts), eq(alerts.id, id))
    const [before] = await tx.select().from(alerts).where(mine).for('update')
    if (!before) throw new NotFound(`There is no alert ${id}.`)
    const refused = whyNotEndAlert(ctx.actor, before)
    if (refused) throw new Conflict(refused)
    const { tenantId, nodeId, cluster, kind, key, evidence } = before
    for (const nudge of await resolveAlerts(tx, [{ tenantId, nodeId, cluster, kinds: [kind] }])) afterwards(nudge)
    const [alert] = await tx
      .update(alerts)
      .set({
        acknowledgedAt: sql`now()`,
        acknowledgedById: createdById,
        acknowledgedByName: createdByName,
        acknowledgement: note?.trim() || before.acknowledgement,
      })
      .where(mine)
      .returning()
    await audit(tx, ctx, 'alert.end', { id, name: kind }, { key, evidence, note: note ?? '' })
    return alert!
  })
}
