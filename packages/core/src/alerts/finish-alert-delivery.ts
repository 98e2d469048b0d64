import { and, eq, isNull, sql } from 'drizzle-orm'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { alertRouteChanged } from './change-events.ts'
import type { ClaimedDelivery } from './claim-alert-delivery.ts'
import { alertPermissions } from './permissions.ts'
import { alertDeliveries, alertRoutes, type RouteKind } from './tables.ts'

/** `isFinal`: the receiver rejects this message permanently; a few more attempts follow anyway. */
export type DeliveryOutcome = { error: string; retryAfterMs?: number; isFinal?: boolean } | null

const FIRST_RETRY_MS = 5000
const MAX_RETRY_MS = 30 * 60_000
const FINAL_TRIES = 3
/** A message is given up after this time. */
const GIVE_UP = sql`interval '24 hours'`

/** Pause between messages of a chat route, which accepts about 20 per minute. Alerts in between share one message. */
const pauseMs = (kind: RouteKind) => (kind === 'webhook' ? 0 : 3000)

/** 5 s, 15 s, 45 s up to 30 minutes, with jitter. */
export const retryMs = (attempts: number, chance = Math.random()): number =>
  Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 3 ** (attempts - 1)) * (0.8 + 0.4 * chance)

/**
 * Records the outcome of an attempt (null: delivered) and releases the route. A test is not retried. Another failed message is
 * retried later, and later messages of its route wait, so that the order is kept.
 * @throws Forbidden when the caller is not a worker
 */
export async function finishAlertDelivery(ctx: Ctx, claimed: ClaimedDelivery, outcome: DeliveryOutcome): Promise<void> {
  authorize(ctx, alertPermissions.deliver)
  const { route, delivery, leaseToken } = claimed
  const isTest = delivery.event === 'test'
  await inTransaction(ctx, async (tx, ctx) => {
    const isGivenUp = isTest
      ? sql`true`
      : outcome?.isFinal && delivery.attempts >= FINAL_TRIES
        ? sql`true`
        : sql`${alertDeliveries.createdAt} < now() - ${GIVE_UP}`
    await tx
      .update(alertDeliveries)
      .set(
        outcome
          ? { lastError: outcome.error, failedAt: sql`case when ${isGivenUp} then now() end` }
          : { lastError: null, deliveredAt: sql`now()` },
      )
      .where(and(eq(alertDeliveries.id, delivery.id), isNull(alertDeliveries.deliveredAt), isNull(alertDeliveries.failedAt)))
    const inMs = outcome ? Math.max(retryMs(delivery.attempts), outcome.retryAfterMs ?? 0) : pauseMs(route.kind)
    const state = outcome
      ? {
          lastError: outcome.error,
          failingSince: sql`coalesce(${alertRoutes.failingSince}, now())`,
          retryAt: sql`now() + ${Math.min(inMs, MAX_RETRY_MS)} * interval '1 millisecond'`,
        }
      : { lastError: null, failingSince: null, retryAt: sql`now() + ${inMs} * interval '1 millisecond'` }
    // A failed test must not delay pending messages.
    await tx
      .update(alertRoutes)
      .set({ leasedUntil: null, leaseToken: null, updatedAt: sql`${alertRoutes.updatedAt}`, ...(isTest && outcome ? {} : state) })
      .where(and(eq(alertRoutes.id, route.id), eq(alertRoutes.leaseToken, leaseToken)))
    ctx.notify(alertRouteChanged({ id: route.id, tenantId: ctx.tenantId }))
  })
}
