import { and, eq, sql } from 'drizzle-orm'
import { audit, type Ctx, inTransaction } from '../context.ts'
import { Forbidden } from '../errors.ts'
import { recordVersion } from './seal.ts'
import { type Credential, credentials, type SecretField } from './tables.ts'

/**
 * Seal every secret with the current key version that is still sealed with another one, in all tenants: a reconciler, which ends
 * a key rotation while runs go on (records of all versions stay readable). One credential at a time; one that somebody saved
 * in the meantime is left to the next round.
 * @returns how many credentials were sealed anew
 * @throws Forbidden when the caller is no worker
 */
export async function resealCredentials(ctx: Ctx): Promise<number> {
  if (ctx.actor.kind !== 'worker') throw new Forbidden('Only a worker opens credentials.')
  const rows = await ctx.db.select().from(credentials)
  let count = 0
  for (const row of rows) {
    const stale = Object.values(row.sealed).some((record) => recordVersion(record) !== ctx.vault.version)
    if (stale && (await resealOne(ctx, row))) count++
  }
  return count
}

async function resealOne(ctx: Ctx, row: Credential): Promise<boolean> {
  const sealed: Credential['sealed'] = {}
  try {
    for (const [field, record] of Object.entries(row.sealed) as [SecretField, string][]) {
      const place = { tenantId: row.tenantId, credentialId: row.id, field }
      sealed[field] = ctx.vault.seal(place, await ctx.vault.open(place, record))
    }
  } catch (error) {
    ctx.log.error({ err: error, credential: row.id }, 'cannot seal a credential anew')
    return false
  }
  return inTransaction({ ...ctx, tenantId: row.tenantId }, async (tx) => {
    const [written] = await tx
      .update(credentials)
      .set({ sealed, updatedAt: sql`${credentials.updatedAt}` })
      .where(and(eq(credentials.id, row.id), sql`${credentials.sealed} = ${JSON.stringify(row.sealed)}::jsonb`))
      .returning()
    if (written) await audit(tx, { ...ctx, tenantId: row.tenantId }, 'credential.reseal', written, { version: ctx.vault.version })
    return written !== undefined
  })
}
