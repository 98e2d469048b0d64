import { alertRouteAudit } from '../alerts/audit-actions.ts'
import type { AlertRoute, RouteSecret } from '../alerts/tables.ts'
import { authorize, type Ctx } from '../kernel/context.ts'
import { Conflict } from '../kernel/errors.ts'
import { auditDecryption } from './audit-decryption.ts'
import { credentialPermissions } from './permissions.ts'

/**
 * Returns the decrypted address and secret of an alert route.
 * @throws Forbidden when the caller is not a worker
 * @throws Conflict when one cannot be decrypted
 */
export async function decryptRouteSecrets(
  ctx: Ctx,
  { id, name, encrypted }: Pick<AlertRoute, 'id' | 'name' | 'encrypted'>,
): Promise<Partial<Record<RouteSecret, string>>> {
  authorize(ctx, credentialPermissions.decrypt)
  if (Object.keys(encrypted).length > 0) await auditDecryption(ctx, alertRouteAudit.decrypt, [{ id, name }])
  const opened = Object.entries(encrypted).map(
    async ([field, record]) => [field, await ctx.vault.open({ tenantId: ctx.tenantId, objectId: id, field }, record)] as const,
  )
  return Promise.all(opened).then(Object.fromEntries, () => {
    throw new Conflict(`The secrets of the route ${name} cannot be decrypted. Save its address and secret again.`)
  })
}
