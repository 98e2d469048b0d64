import { and, eq, gt, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { visibleTo, whyNoRow } from '../db/rows.ts'
import { parseInput } from '../errors.ts'
import { ById } from '../input.ts'
import { whyNotEndSilence } from './policy.ts'
import { announceAt } from './raise-alerts.ts'
import { type AlertSilence, alertSilences, alerts } from './tables.ts'

/**
 * End a silence before its time, or call off one that has not begun. Alerts that it held back are told now, if they are open still.
 * @throws NotFound, Conflict it is over
 */
export async function endAlertSilence(ctx: Ctx, input: z.input<typeof ById>): Promise<AlertSilence> {
  authorize(ctx, 'alert:write')
  const { id } = parseInput(ById, input)
  return inTransaction(ctx, async (tx, afterwards) => {
    const [silence] = await tx
      .update(alertSilences)
      .set({ endsAt: sql`now()`, startsAt: sql`least(${alertSilences.startsAt}, now())` })
      .where(and(visibleTo(ctx, alertSilences), eq(alertSilences.id, id), gt(alertSilences.endsAt, sql`now()`)))
      .returning()
    if (!silence) throw await whyNoRow(tx, ctx, alertSilences, id, 'silence', (row) => whyNotEndSilence(ctx.actor, row))
    // Which of them this one held back is found out when they are planned anew: another silence may hold them still.
    await tx.execute(sql`with held as (select a.id from ${alerts} a
        where a.tenant_id = ${ctx.tenantId} and a.announce_at > now() and a.resolved_at is null
        order by a.kind, a.key for update)
      update ${alerts} a set announce_at = ${announceAt('opened')} from held where a.id = held.id`)
    await audit(tx, ctx, 'alert_silence.end', silence)
    afterwards({ topic: 'alertSilence', id, tenantId: ctx.tenantId })
    return silence
  })
}
