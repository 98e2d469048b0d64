import { and, eq, gt, sql } from 'drizzle-orm'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction, type SystemCtx, tenantCtx } from '../kernel/context.ts'
import { isTransientDbError } from '../kernel/retry-transient.ts'
import { credentialAudit } from './audit-actions.ts'
import { ENCRYPTED_TABLES, type EncryptedTable, encryptedBefore } from './encrypted-tables.ts'
import { credentialPermissions } from './permissions.ts'
import { reencryptFailures } from './tables.ts'

type Row = { id: string; tenantId: string; name: string; encrypted: Record<string, string> }

const BATCH = 100

/**
 * Reconciler, over all tenants: re-encrypts every secret of an older key version with the newest one. Records of all versions
 * stay readable, so runs continue. Works row by row: after a crash the next round continues. A row that changed concurrently is
 * left to that round.
 * @returns the number of re-encrypted rows
 * @throws Forbidden when the caller is not a worker
 */
export async function reencryptCredentials(ctx: SystemCtx): Promise<number> {
  authorize(ctx, credentialPermissions.reencrypt)
  const version = await ctx.vault.newestVersion()
  let count = 0
  for (const [what, table] of Object.entries(ENCRYPTED_TABLES)) {
    for (let last = '00000000-0000-0000-0000-000000000000'; ; ) {
      const rows = (await ctx.db
        .select({ id: table.id, tenantId: table.tenantId, name: table.name, encrypted: table.encrypted })
        .from(table as EncryptedTable)
        .where(and(encryptedBefore(table, version), gt(table.id, last)))
        .orderBy(table.id)
        .limit(BATCH)) as Row[]
      for (const row of rows) if (await reencryptRow(tenantCtx(ctx, row.tenantId, ctx.actor), what, table, row, version)) count++
      if (rows.length < BATCH) break
      last = rows.at(-1)!.id
    }
  }
  return count
}

async function reencryptRow(ctx: Ctx, what: string, table: EncryptedTable, row: Row, version: number): Promise<boolean> {
  const encrypted: Row['encrypted'] = {}
  try {
    for (const [field, record] of Object.entries(row.encrypted)) {
      const place = { tenantId: row.tenantId, objectId: row.id, field }
      encrypted[field] = await ctx.vault.encrypt(place, await ctx.vault.open(place, record))
    }
  } catch (error) {
    if (isTransientDbError(error)) throw error
    await recordFailure(ctx, what, row, version, error)
    return false
  }
  return inTransaction(ctx, async (tx) => {
    // Plain SQL, because no user changed the row and `updated_at` must stay.
    const { rowCount } = await tx.execute(sql`update ${table} set encrypted = ${JSON.stringify(encrypted)}::jsonb
      where ${table.id} = ${row.id} and ${table.encrypted} = ${JSON.stringify(row.encrypted)}::jsonb`)
    if (rowCount === 0) return false
    await tx.delete(reencryptFailures).where(eq(reencryptFailures.objectId, row.id))
    await audit(tx, ctx, credentialAudit.reencrypt, row, { what, version })
    return true
  })
}

/** A row that cannot be decrypted is retried in every round and logged once. */
async function recordFailure(ctx: Ctx, what: string, row: Row, version: number, error: unknown): Promise<void> {
  const reason =
    'It cannot be decrypted: it was modified outside of Muster, or encrypted with another master password. Save its secrets again.'
  const [isNew] = await ctx.db
    .insert(reencryptFailures)
    .values({ objectId: row.id, tenantId: row.tenantId, keyVersion: version, reason })
    .onConflictDoUpdate({
      target: reencryptFailures.objectId,
      set: { keyVersion: version, reason, failedAt: sql`now()` },
      setWhere: sql`${reencryptFailures.keyVersion} <> ${version}`,
    })
    .returning({ id: reencryptFailures.objectId })
  if (isNew) ctx.log.error({ err: error, what, id: row.id, name: row.name }, 'cannot re-encrypt')
}
