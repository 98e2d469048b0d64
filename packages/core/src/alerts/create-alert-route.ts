import { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { newId } from '../db/columns.ts'
import { Conflict, InvalidInput, parseInput } from '../errors.ts'
import { readMatcher } from './matcher.ts'
import { ROUTE_FIELDS, routeIssues, routeSettings, sealRoute } from './route-fields.ts'
import { type AlertRoute, alertRoutes, ROUTE_KINDS } from './tables.ts'

export const CreateAlertRouteInput = z.object({ ...ROUTE_FIELDS, kind: z.enum(ROUTE_KINDS) })

/** What a route tells that is not asked otherwise: all but what is merely good to know. */
const WORTH_TELLING = { severities: ['warning', 'critical'] as const }

/**
 * Make a way on which alerts reach people. Its address and secret are sealed and never given out again; only workers use them.
 * @throws InvalidInput, Conflict the name is taken
 */
export async function createAlertRoute(ctx: Ctx, input: z.input<typeof CreateAlertRouteInput>): Promise<AlertRoute> {
  authorize(ctx, 'alert_route:write')
  const fields = parseInput(CreateAlertRouteInput, input)
  const { name, kind } = fields
  const issues = routeIssues(kind, fields)
  if (issues.length > 0) throw new InvalidInput(issues)
  const id = newId()
  const sealed = await sealRoute(ctx, id, fields)
  return inTransaction(ctx, async (tx, afterwards) => {
    const matcher = fields.matcher ? await readMatcher(tx, ctx, fields.matcher) : { severities: [...WORTH_TELLING.severities] }
    const [route] = await tx
      .insert(alertRoutes)
      .values({
        id,
        tenantId: ctx.tenantId,
        name,
        kind,
        settings: routeSettings(kind, fields, fields.url ? new URL(fields.url).origin : undefined),
        sealed,
        matcher,
        isEnabled: fields.isEnabled ?? true,
        tellsResolved: fields.tellsResolved ?? true,
      })
      .onConflictDoNothing()
      .returning()
    if (!route) throw new Conflict(`There is already a route named ${name}; choose another name or change that one.`)
    await audit(tx, ctx, 'alert_route.create', route, { kind, settings: route.settings, matcher })
    afterwards({ topic: 'alertRoute', id, tenantId: ctx.tenantId })
    return route
  })
}
