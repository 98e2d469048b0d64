import { and, eq } from 'drizzle-orm'
import type { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { visibleTo, whyNoRow } from '../db/rows.ts'
import { parseInput } from '../errors.ts'
import { ById } from '../input.ts'
import { type AlertDelivery, alertDeliveries, alertRoutes } from './tables.ts'

/**
 * Send a message on a route to see that it arrives, also on one that is switched off. A worker tries it once, at once; the delivery
 * says how it went.
 * @throws NotFound
 */
export async function testAlertRoute(ctx: Ctx, input: z.input<typeof ById>): Promise<AlertDelivery> {
  authorize(ctx, 'alert_route:write')
  const { id } = parseInput(ById, input)
  return inTransaction(ctx, async (tx, afterwards) => {
    const [route] = await tx
      .select({ id: alertRoutes.id, name: alertRoutes.name })
      .from(alertRoutes)
      .where(and(visibleTo(ctx, alertRoutes), eq(alertRoutes.id, id)))
      .for('key share')
    if (!route) throw await whyNoRow(tx, ctx, alertRoutes, id, 'route', () => null)
    const [delivery] = await tx.insert(alertDeliveries).values({ tenantId: ctx.tenantId, routeId: id, event: 'test' }).returning()
    await audit(tx, ctx, 'alert_route.test', route)
    afterwards({ topic: 'alertRoute', id, tenantId: ctx.tenantId })
    return delivery!
  })
}
