import { and, eq } from 'drizzle-orm'
import type { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { visibleTo, whyNoRow } from '../db/rows.ts'
import { parseInput } from '../errors.ts'
import { ById } from '../input.ts'
import { alertRoutes } from './tables.ts'

/** Forget a route, with what still waits for it. @throws NotFound */
export async function deleteAlertRoute(ctx: Ctx, input: z.input<typeof ById>): Promise<{ id: string }> {
  authorize(ctx, 'alert_route:write')
  const { id } = parseInput(ById, input)
  return inTransaction(ctx, async (tx, afterwards) => {
    const [route] = await tx
      .delete(alertRoutes)
      .where(and(visibleTo(ctx, alertRoutes), eq(alertRoutes.id, id)))
      .returning()
    if (!route) throw await whyNoRow(tx, ctx, alertRoutes, id, 'route', () => null)
    await audit(tx, ctx, 'alert_route.delete', route)
    afterwards({ topic: 'alertRoute', id, tenantId: ctx.tenantId })
    return { id }
  })
}
