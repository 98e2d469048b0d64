import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorize, type Ctx } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { alertRouteAudit } from './audit-actions.ts'
import { alertRouteChanged } from './change-events.ts'
import { alertRoutePermissions } from './permissions.ts'
import { type AlertDelivery, alertDeliveries, alertRoutes } from './tables.ts'

export const TestAlertRouteInput = z.object({ id: Id, idempotencyKey: IdempotencyKey })

/**
 * Sends a test message on a route, also on a disabled one. A worker makes one attempt; the delivery has the outcome.
 * @throws NotFound
 */
export async function testAlertRoute(ctx: Ctx, input: z.input<typeof TestAlertRouteInput>): Promise<AlertDelivery> {
  authorize(ctx, alertRoutePermissions.write)
  const { id, idempotencyKey } = parseInput(TestAlertRouteInput, input)
  return idempotent(
    ctx,
    { verb: 'testAlertRoute', key: idempotencyKey, input: id, result: oneRow(alertDeliveries) },
    async (tx, ctx) => {
      const [route] = await tx
        .select({ id: alertRoutes.id, name: alertRoutes.name })
        .from(alertRoutes)
        .where(and(visibleTo(ctx, alertRoutes), eq(alertRoutes.id, id)))
        .for('key share')
      if (!route) throw await notFoundOrConflict(tx, ctx, alertRoutes, id, 'route', () => null)
      const [delivery] = await tx
        .insert(alertDeliveries)
        .values({ tenantId: ctx.tenantId, routeId: id, event: 'test' })
        .returning()
      await audit(tx, ctx, alertRouteAudit.test, route)
      ctx.notify(alertRouteChanged({ id, tenantId: ctx.tenantId }))
      return delivery!
    },
  )
}
