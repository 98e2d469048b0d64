import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorize, type Ctx } from '../kernel/context.ts'
import { newId } from '../kernel/db/columns.ts'
import { nameTaken } from '../kernel/db/rows.ts'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { type LocalTarget, targetIssues, targetsOf } from '../kernel/outbound/index.ts'
import { alertRouteAudit } from './audit-actions.ts'
import { alertRouteChanged } from './change-events.ts'
import type { Severity } from './kinds.ts'
import { readMatcher } from './matcher.ts'
import { alertRoutePermissions } from './permissions.ts'
import { encryptRouteSecrets, ROUTE_FIELDS, routeIssues, routeSettings } from './route-fields.ts'
import { type AlertRoute, alertRoutes, ROUTE_KINDS } from './tables.ts'

export const CreateAlertRouteInput = z.object({ ...ROUTE_FIELDS, kind: z.enum(ROUTE_KINDS), idempotencyKey: IdempotencyKey })

/** Default severities of a new route: all but informational alerts. */
export const DEFAULT_SEVERITIES: Severity[] = ['warning', 'critical']

/**
 * Creates a notification route. Its address and secret are encrypted and never returned; only workers use them.
 * @throws InvalidInput, Conflict when the name is taken
 */
export async function createAlertRoute(
  ctx: Ctx,
  input: z.input<typeof CreateAlertRouteInput>,
  localTargets: readonly LocalTarget[] = [],
): Promise<AlertRoute> {
  authorize(ctx, alertRoutePermissions.write)
  const { idempotencyKey, ...fields } = parseInput(CreateAlertRouteInput, input)
  const { name, kind } = fields
  const issues = [...routeIssues(kind, fields), ...(await targetIssues(targetsOf(fields), localTargets))]
  if (issues.length > 0) throw new InvalidInput(issues)
  const id = newId()
  const encrypted = await encryptRouteSecrets(ctx, id, fields)
  return idempotent(
    ctx,
    { verb: 'createAlertRoute', key: idempotencyKey, input: fields, hasSecrets: true, result: oneRow(alertRoutes) },
    async (tx, ctx) => {
      const matcher = fields.matcher ? await readMatcher(tx, ctx, fields.matcher) : { severities: DEFAULT_SEVERITIES }
      const [route] = await tx
        .insert(alertRoutes)
        .values({
          id,
          tenantId: ctx.tenantId,
          name,
          kind,
          settings: routeSettings(kind, fields, fields.url ? new URL(fields.url).origin : undefined),
          encrypted,
          matcher,
          isEnabled: fields.isEnabled ?? true,
          notifyOnResolve: fields.notifyOnResolve ?? true,
        })
        .onConflictDoNothing()
        .returning()
      if (!route) throw nameTaken('route', name)
      await audit(tx, ctx, alertRouteAudit.create, route, { kind, settings: route.settings, matcher })
      ctx.notify(alertRouteChanged({ id, tenantId: ctx.tenantId }))
      return route
    },
  )
}
