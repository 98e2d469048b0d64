import { and, eq, sql } from 'drizzle-orm'
import { type Actor, audit, type Ctx, inTransaction, type Runtime } from '../context.ts'
import { Forbidden } from '../errors.ts'
import { type Credential, credentials, type SecretField } from './tables.ts'

/** A worker process, of no tenant. */
type Acting = Runtime & { actor: Actor }

/**
 * Seal every secret with the current key version that is still sealed with an older one, in all tenants: a reconciler, which ends
 * a key rotation while runs go on (records of all versions stay readable). One credential at a time; one that somebody saved
 * in the meantime is left to the next round.
 * @returns how many credentials were sealed anew
 * @throws Forbidden when the caller is no worker
 */
export async function resealCredentials(ctx: Acting): Promise<number> {
  if (ctx.actor.kind !== 'worker') throw new Forbidden('Only a worker opens credentials.')
  // A record begins with its version, one byte.
  const isStale = sql`exists (select from jsonb_each_text(${credentials.sealed}) s
    where get_byte(decode(substr(s.value, 1, 4), 'base64'), 0) < ${ctx.vault.version})`
  const rows = await ctx.db.select().from(credentials).where(isStale)
  let count = 0
  for (const row of rows) if (await resealOne(ctx, row)) count++
  return count
}

async function resealOne(acting: Acting, row: Credential): Promise<boolean> {
  const ctx: Ctx = { ...acting, tenantId: row.tenantId }
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
  return inTransaction(ctx, async (tx) => {
    const [written] = await tx
      .update(credentials)
      .set({ sealed, updatedAt: sql`${credentials.updatedAt}` })
      .where(and(eq(credentials.id, row.id), sql`${credentials.sealed} = ${JSON.stringify(row.sealed)}::jsonb`))
      .returning()
    if (written) await audit(tx, ctx, 'credential.reseal', written, { version: ctx.vault.version })
    return written !== undefined
  })
}
