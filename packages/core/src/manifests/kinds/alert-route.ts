import { and } from 'drizzle-orm'
import { z } from 'zod'
import { createAlertRoute, DEFAULT_SEVERITIES, deleteAlertRoute, ROUTE_FIELDS, updateAlertRoute } from '../../alerts/index.ts'
import { alertRoutes, ROUTE_KINDS, type RouteKind } from '../../alerts/tables.ts'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import { InvalidInput } from '../../kernel/errors.ts'
import { type Kind, type Scope, type Stored, specOf, verbInput } from './kind.ts'

const { name, host, port, security, from, to, matcher, isEnabled, notifyOnResolve } = ROUTE_FIELDS

const kind = {
  spec: z.strictObject({
    type: z.enum(ROUTE_KINDS).optional(),
    ...{ host, port, security, from, to, matcher, isEnabled, notifyOnResolve },
  }),
  defaults: { isEnabled: true, notifyOnResolve: true, matcher: { severities: DEFAULT_SEVERITIES } },
}

async function read({ tx, ctx }: Scope, names: string[] | null): Promise<Stored[]> {
  const rows = await tx
    .select()
    .from(alertRoutes)
    .where(and(visibleTo(ctx, alertRoutes), names ? isOneOf(alertRoutes.name, names, 'text') : undefined))
  return rows.map(({ id, name, kind: type, settings, ...row }) => ({
    ...{ id, name },
    spec: specOf(kind, { ...row, ...settings, type }),
  }))
}

const NO_SECRETS = 'manifests contain no secrets; set it with `muster alert route`'

export const alertRoute: Kind = {
  ...kind,
  kind: 'AlertRoute',
  description: 'Where alerts are sent. Addresses and secrets of hooks, and passwords for e-mail, are set outside of manifests.',
  name,
  hints: { url: NO_SECRETS, secret: NO_SECRETS, username: NO_SECRETS, kind: 'the kind of a route is its type' },
  read,
  async create(scope, { name, spec: { type, ...spec } }) {
    if (!type) throw new InvalidInput([{ path: 'type', message: `is missing; one of ${ROUTE_KINDS.join(', ')}` }])
    if (type !== 'email')
      throw new InvalidInput([
        {
          path: 'type',
          message: `a new ${type} route needs an address that is secret; create it with \`muster alert route\` first`,
        },
      ])
    const input = await verbInput(scope, {}, spec)
    return (await createAlertRoute(scope.ctx, { name, kind: type as RouteKind, ...input }, scope.localTargets)).id
  },
  async update(scope, { stored, changed: { type, ...changed } }) {
    if (type !== undefined)
      throw new InvalidInput([{ path: 'type', message: `is ${stored.spec.type} and cannot change; delete the route first` }])
    const input = await verbInput(scope, { defaults: kind.defaults }, changed)
    await updateAlertRoute(scope.ctx, { id: stored.id, ...input }, scope.localTargets)
  },
  remove: async ({ ctx }, { id }) => void (await deleteAlertRoute(ctx, { id })),
}
