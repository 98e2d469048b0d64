import { and, eq, isNull, ne, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { nameTaken, notFoundOrConflict, sqlState, UNIQUE_VIOLATION, visibleTo } from '../kernel/db/rows.ts'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { type LocalTarget, targetIssues, targetsOf } from '../kernel/outbound/index.ts'
import { alertRouteAudit } from './audit-actions.ts'
import { alertRouteChanged } from './change-events.ts'
import { readMatcher } from './matcher.ts'
import { alertRoutePermissions } from './permissions.ts'
import { encryptRouteSecrets, ROUTE_FIELDS, routeIssues, routeSettings } from './route-fields.ts'
import { type AlertRoute, alertDeliveries, alertRoutes } from './tables.ts'

export const UpdateAlertRouteInput = z.object({ ...ROUTE_FIELDS, name: ROUTE_FIELDS.name.optional(), id: Id })

/**
 * Changes the given fields; null clears a field. Pending messages of a failing route are retried now; those of a disabled route
 * are given up.
 * @throws InvalidInput, NotFound, Conflict when the name is taken
 */
export async function updateAlertRoute(
  ctx: Ctx,
  input: z.input<typeof UpdateAlertRouteInput>,
  localTargets: readonly LocalTarget[] = [],
): Promise<AlertRoute> {
  authorize(ctx, alertRoutePermissions.write)
  const { id, ...changes } = parseInput(UpdateAlertRouteInput, input)
  const rejected = await targetIssues(targetsOf(changes), localTargets)
  const added = await encryptRouteSecrets(ctx, id, changes)
  const scope = and(visibleTo(ctx, alertRoutes), eq(alertRoutes.id, id))
  const work = inTransaction(ctx, async (tx, ctx) => {
    const [before] = await tx.select().from(alertRoutes).where(scope).for('no key update')
    if (!before) throw await notFoundOrConflict(tx, ctx, alertRoutes, id, 'route', () => null)
    const encrypted = { ...before.encrypted, ...added }
    if (changes.secret === null) delete encrypted.secret
    // An encrypted field counts as given; its value does not matter here.
    const fields = { ...before.settings, ...encrypted, ...changes }
    const issues = [...routeIssues(before.kind, fields), ...rejected]
    const origin = changes.url ? new URL(changes.url).origin : before.settings.origin
    const settings = routeSettings(before.kind, fields, origin)
    const isElsewhere = (['host', 'port', 'security'] as const).some((field) => settings[field] !== before.settings[field])
    if (before.kind === 'email' && isElsewhere && encrypted.secret && !added.secret)
      issues.push({
        path: 'secret',
        message: 'is required again when the host, port or security changes: the stored one was for the previous server',
      })
    if (issues.length > 0) throw new InvalidInput(issues)
    const [route] = await tx
      .update(alertRoutes)
      .set({
        name: changes.name ?? before.name,
        settings,
        encrypted,
        matcher: changes.matcher ? await readMatcher(tx, ctx, changes.matcher) : before.matcher,
        isEnabled: changes.isEnabled ?? before.isEnabled,
        notifyOnResolve: changes.notifyOnResolve ?? before.notifyOnResolve,
        failingSince: null,
        lastError: null,
        retryAt: null,
        updatedAt: sql`now()`,
      })
      .where(scope)
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
    await audit(tx, ctx, alertRouteAudit.update, route!, { changed: Object.keys(changes), settings: route!.settings })
    ctx.notify(alertRouteChanged({ id, tenantId: ctx.tenantId }))
    return route!
  })
  return work.catch((error: unknown) => {
    if (sqlState(error) === UNIQUE_VIOLATION) throw nameTaken('route', changes.name)
    throw error
  })
}
