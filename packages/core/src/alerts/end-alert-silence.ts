import { and, eq, gt, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { alertSilenceAudit } from './audit-actions.ts'
import { alertSilenceChanged } from './change-events.ts'
import { alertPermissions } from './permissions.ts'
import { silenceEndBlockedReason } from './policy.ts'
import { notifyAt } from './raise-alerts.ts'
import { type AlertSilence, alertSilences, alerts } from './tables.ts'

/**
 * Ends a silence early, also before its start. Open alerts that it suppressed are notified now.
 * @throws NotFound, Conflict when it has ended
 */
export async function endAlertSilence(ctx: Ctx, input: z.input<typeof IdInput>): Promise<AlertSilence> {
  authorize(ctx, alertPermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const [silence] = await tx
      .update(alertSilences)
      .set({ endsAt: sql`now()`, startsAt: sql`least(${alertSilences.startsAt}, now())` })
      .where(and(visibleTo(ctx, alertSilences), eq(alertSilences.id, id), gt(alertSilences.endsAt, sql`now()`)))
      .returning()
    if (!silence)
      throw await notFoundOrConflict(tx, ctx, alertSilences, id, 'silence', (row) => silenceEndBlockedReason(ctx.actor, row))
    // Planning decides which alerts to notify, because another silence may still match.
    await tx.execute(sql`with held as (select a.id from ${alerts} a
        where a.tenant_id = ${ctx.tenantId} and a.notify_at > now() and a.resolved_at is null
        order by a.kind, a.key for update)
      update ${alerts} a set notify_at = ${notifyAt('opened')} from held where a.id = held.id`)
    await audit(tx, ctx, alertSilenceAudit.end, silence)
    ctx.notify(alertSilenceChanged({ id, tenantId: ctx.tenantId }))
    return silence
  })
}
