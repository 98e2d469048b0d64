import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorize, type Ctx, createdBy } from '../kernel/context.ts'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { multilineText } from '../kernel/input.ts'
import { alertSilenceAudit } from './audit-actions.ts'
import { alertSilenceChanged } from './change-events.ts'
import { Matcher, readMatcher } from './matcher.ts'
import { alertPermissions } from './permissions.ts'
import { type AlertSilence, alertSilences } from './tables.ts'

const MAX_DAYS = 366

export const CreateAlertSilenceInput = z.object({
  matcher: Matcher,
  reason: multilineText(2000).refine((text) => text.trim() !== '', 'must not be empty'),
  startsAt: z.date().nullish(),
  endsAt: z.date(),
  idempotencyKey: IdempotencyKey,
})

/**
 * Suppresses notifications of matching alerts from `startsAt` (default: now) to `endsAt`. Alerts that are still open then are
 * notified.
 * @throws InvalidInput
 */
export async function createAlertSilence(ctx: Ctx, input: z.input<typeof CreateAlertSilenceInput>): Promise<AlertSilence> {
  authorize(ctx, alertPermissions.write)
  const { idempotencyKey, ...fields } = parseInput(CreateAlertSilenceInput, input)
  const { reason, endsAt, ...given } = fields
  const startsAt = given.startsAt ?? new Date()
  if (endsAt <= startsAt) throw new InvalidInput([{ path: 'endsAt', message: 'must be later than its start' }])
  if (endsAt.getTime() <= Date.now()) throw new InvalidInput([{ path: 'endsAt', message: 'must be in the future' }])
  if (endsAt.getTime() - startsAt.getTime() > MAX_DAYS * 86_400_000)
    throw new InvalidInput([{ path: 'endsAt', message: `must be at most ${MAX_DAYS} days after its start` }])
  return idempotent(
    ctx,
    { verb: 'createAlertSilence', key: idempotencyKey, input: fields, result: oneRow(alertSilences) },
    async (tx, ctx) => {
      const matcher = await readMatcher(tx, ctx, given.matcher)
      const [silence] = await tx
        .insert(alertSilences)
        .values({ tenantId: ctx.tenantId, matcher, reason: reason.trim(), startsAt, endsAt, ...createdBy(ctx) })
        .returning()
      await audit(tx, ctx, alertSilenceAudit.create, silence!, { matcher, reason: silence!.reason, endsAt: endsAt.toISOString() })
      ctx.notify(alertSilenceChanged({ id: silence!.id, tenantId: ctx.tenantId }))
      return silence!
    },
  )
}
