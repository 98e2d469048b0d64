import type { AlertRoute, RouteSecret } from '../alerts/tables.ts'
import type { Ctx } from '../context.ts'
import { Conflict, Forbidden } from '../errors.ts'

/**
 * The address and secret of a route for alerts, in the clear: for workers only.
 * @throws Forbidden when the caller is no worker
 * @throws Conflict when one does not open
 */
export async function openRouteSecrets(
  ctx: Ctx,
  { id, name, sealed }: Pick<AlertRoute, 'id' | 'name' | 'sealed'>,
): Promise<Partial<Record<RouteSecret, string>>> {
  if (ctx.actor.kind !== 'worker') throw new Forbidden('Only a worker opens secrets.')
  const opened = Object.entries(sealed).map(
    async ([field, record]) => [field, await ctx.vault.open({ tenantId: ctx.tenantId, objectId: id, field }, record)] as const,
  )
  return Promise.all(opened).then(Object.fromEntries, () => {
    throw new Conflict(`The route ${name} does not open; save its address and secret again.`)
  })
}
