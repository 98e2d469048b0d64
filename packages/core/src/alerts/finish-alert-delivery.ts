import { and, eq, isNull, sql } from 'drizzle-orm'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { alertRouteChanged } from './change-events.ts'
import type { ClaimedDelivery } from './claim-alert-delivery.ts'
import { alertPermissions } from './permissions.ts'
import { alertDeliveries, alertRoutes, type RouteKind } from './tables.ts'

/** `isFinal`: the receiver will not take this message ever; it is tried a few times more all the same, should it change its mind. */
export type DeliveryOutcome = { error: string; retryAfterMs?: number; isFinal?: boolean } | null

const FIRST_RETRY_MS = 5000
const LONGEST_RETRY_MS = 30 * 60_000
const FINAL_TRIES = 3
/** After that long nobody wants to hear it any more. */
const GIVE_UP = sql`interval '24 hours'`

/** Chats take some twenty messages a minute, and people fewer: what comes in between is put together in one. */
const pauseMs = (kind: RouteKind) => (kind === 'webhook' ? 0 : 3000)

/** 5 s, 15 s, 45 s and so on up to half an hour, each a little shorter or longer by chance. */
export const retryMs = (attempts: number, chance = Math.random()): number =>
  Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 3 ** (attempts - 1)) * (0.8 + 0.4 * chance)

/**
 * Write down how an attempt went (`outcome` null: it was delivered), and let the route go. A test is not tried again; another
 * message comes again later, and what is behind it on its route waits, so that things are told in order.
 * @throws Forbidden when the caller is no worker
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
          retryAt: sql`now() + ${Math.min(inMs, LONGEST_RETRY_MS)} * interval '1 millisecond'`,
        }
      : { lastError: null, failingSince: null, retryAt: sql`now() + ${inMs} * interval '1 millisecond'` }
    // A test that fails says nothing of what else waits, and that must not wait longer for it.
    await tx
      .update(alertRoutes)
      .set({ leasedUntil: null, leaseToken: null, updatedAt: sql`${alertRoutes.updatedAt}`, ...(isTest && outcome ? {} : state) })
      .where(and(eq(alertRoutes.id, route.id), eq(alertRoutes.leaseToken, leaseToken)))
    ctx.notify(alertRouteChanged({ id: route.id, tenantId: ctx.tenantId }))
  })
}
