import { and } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { variableAudit } from '../variables/audit-actions.ts'
import { variableSecrets } from '../variables/tables.ts'
import { auditDecryption } from './audit-decryption.ts'
import { credentialPermissions } from './permissions.ts'

/** Returns decrypted secret variables by id. @throws Forbidden when the caller is not a worker */
export async function decryptSecretVars(ctx: Ctx, ids: string[]): Promise<Map<string, string>> {
  authorize(ctx, credentialPermissions.decrypt)
  if (ids.length === 0) return new Map()
  const rows = await ctx.db
    .select({ id: variableSecrets.id, name: variableSecrets.name, encrypted: variableSecrets.encrypted })
    .from(variableSecrets)
    .where(and(visibleTo(ctx, variableSecrets), isOneOf(variableSecrets.id, ids)))
  await auditDecryption(ctx, variableAudit.decrypt, rows)
  const opened = rows.map(
    async ({ id, encrypted }): Promise<[string, string]> => [
      id,
      await ctx.vault.open({ tenantId: ctx.tenantId, objectId: id, field: 'value' }, encrypted.value),
    ],
  )
  return new Map(await Promise.all(opened))
}
