import { and, eq, isNull, ne, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { sqlState, UNIQUE_VIOLATION, visibleTo, whyNoRow } from '../db/rows.ts'
import { Conflict, InvalidInput, parseInput } from '../errors.ts'
import { Id } from '../input.ts'
import { readMatcher } from './matcher.ts'
import { ROUTE_FIELDS, routeIssues, routeSettings, sealRoute } from './route-fields.ts'
import { type AlertRoute, alertDeliveries, alertRoutes } from './tables.ts'

export const UpdateAlertRouteInput = z.object({ ...ROUTE_FIELDS, name: ROUTE_FIELDS.name.optional(), id: Id })

/**
 * Change what is given, keep what is left out; null takes away. What waits for a route that failed is tried again at once, and
 * what waits for one that is switched off is given up.
 * @throws InvalidInput, NotFound, Conflict the name is taken
 */
export async function updateAlertRoute(ctx: Ctx, input: z.input<typeof UpdateAlertRouteInput>): Promise<AlertRoute> {
  authorize(ctx, 'alert_route:write')
  const { id, ...changes } = parseInput(UpdateAlertRouteInput, input)
  const added = await sealRoute(ctx, id, changes)
  const mine = and(visibleTo(ctx, alertRoutes), eq(alertRoutes.id, id))
  const work = inTransaction(ctx, async (tx, afterwards) => {
    const [before] = await tx.select().from(alertRoutes).where(mine).for('no key update')
    if (!before) throw await whyNoRow(tx, ctx, alertRoutes, id, 'route', () => null)
    const sealed = { ...before.sealed, ...added }
    if (changes.secret === null) delete sealed.secret
    // A sealed field counts as given: what is in it does not matter for what belongs to a kind.
    const fields = { ...before.settings, ...sealed, ...changes }
    const issues = routeIssues(before.kind, fields)
    const isElsewhere = before.kind === 'email' && fields.host !== before.settings.host
    if (isElsewhere && sealed.secret && !added.secret)
      issues.push({ path: 'secret', message: 'must be given again with another host: the one that is kept was not meant for it' })
    if (issues.length > 0) throw new InvalidInput(issues)
    const origin = changes.url ? new URL(changes.url).origin : before.settings.origin
    const [route] = await tx
      .update(alertRoutes)
      .set({
        name: changes.name ?? before.name,
        settings: routeSettings(before.kind, fields, origin),
        sealed,
        matcher: changes.matcher ? await readMatcher(tx, ctx, changes.matcher) : before.matcher,
        isEnabled: changes.isEnabled ?? before.isEnabled,
        tellsResolved: changes.tellsResolved ?? before.tellsResolved,
        failingSince: null,
        lastError: null,
        retryAt: null,
        updatedAt: sql`now()`,
      })
      .where(mine)
      .returning()
    if (!route!.isEnabled)
      await tx
        .update(alertDeliveries)
        .set({ failedAt: sql`now()`, lastError: 'The route was switched off.' })
        .where(
          and(
            eq(alertDeliveries.routeId, id),
            ne(alertDeliveries.event, 'test'),
            isNull(alertDeliveries.deliveredAt),
            isNull(alertDeliveries.failedAt),
          ),
        )
    await audit(tx, ctx, 'alert_route.update', route!, { changed: Object.keys(changes), settings: route!.settings })
    afterwards({ topic: 'alertRoute', id, tenantId: ctx.tenantId })
    return route!
  })
  return work.catch((error: unknown) => {
    if (sqlState(error) === UNIQUE_VIOLATION)
      throw new Conflict(`There is already a route named ${changes.name}; choose another name.`)
    throw error
  })
}
