import { and, eq } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { alertRouteAudit } from './audit-actions.ts'
import { alertRouteChanged } from './change-events.ts'
import { alertRoutePermissions } from './permissions.ts'
import { alertRoutes } from './tables.ts'

/** Deletes a route and its pending messages. @throws NotFound */
export async function deleteAlertRoute(ctx: Ctx, input: z.input<typeof IdInput>): Promise<{ id: string }> {
  authorize(ctx, alertRoutePermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const [route] = await tx
      .delete(alertRoutes)
      .where(and(visibleTo(ctx, alertRoutes), eq(alertRoutes.id, id)))
      .returning()
    if (!route) throw await notFoundOrConflict(tx, ctx, alertRoutes, id, 'route', () => null)
    await audit(tx, ctx, alertRouteAudit.delete, route)
    ctx.notify(alertRouteChanged({ id, tenantId: ctx.tenantId }))
    return { id }
  })
}
