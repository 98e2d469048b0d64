import { and, eq } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { jobRunAudit } from '../runs/audit-actions.ts'
import { runSecrets } from '../runs/tables.ts'
import { auditDecryption } from './audit-decryption.ts'
import { credentialPermissions } from './permissions.ts'

/**
 * Returns the decrypted secret extra vars of a run.
 * @param id the run's `secretsId`
 * @throws Forbidden when the caller is not a worker
 */
export async function decryptRunSecrets(ctx: Ctx, id: string | null): Promise<Record<string, string>> {
  authorize(ctx, credentialPermissions.decrypt)
  if (!id) return {}
  const [row] = await ctx.db
    .select({ encrypted: runSecrets.encrypted })
    .from(runSecrets)
    .where(and(visibleTo(ctx, runSecrets), eq(runSecrets.id, id)))
  if (row) await auditDecryption(ctx, jobRunAudit.decryptSecrets, [{ id: ctx.runId ?? id, name: null }])
  const opened = Object.entries(row?.encrypted ?? {}).map(
    async ([field, record]) => [field, await ctx.vault.open({ tenantId: ctx.tenantId, objectId: id, field }, record)] as const,
  )
  return Object.fromEntries(await Promise.all(opened))
}
