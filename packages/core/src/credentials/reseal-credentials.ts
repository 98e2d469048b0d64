import { and, eq, gt, sql } from 'drizzle-orm'
import { type Actor, audit, type Ctx, inTransaction, type Runtime } from '../context.ts'
import { Forbidden } from '../errors.ts'
import { isDatabaseAway } from '../patiently.ts'
import { SEALED_PLACES, type SealedTable, staleUnder } from './sealed-places.ts'
import { resealFailures } from './tables.ts'

/** A worker process, of no tenant. */
type Acting = Runtime & { actor: Actor }
type Row = { id: string; tenantId: string; name: string; sealed: Record<string, string> }

const BATCH = 100

/**
 * Seal every secret with the newest key version that is still sealed with an older one, in all tenants: a reconciler, which ends
 * a key rotation while runs go on (records of all versions stay readable). One row at a time: killed anywhere, each row is either
 * as it was or sealed anew, and the next round goes on from there. One that somebody saved in the meantime is left to that round.
 * @returns how many rows were sealed anew
 * @throws Forbidden when the caller is no worker
 */
export async function resealCredentials(ctx: Acting): Promise<number> {
  if (ctx.actor.kind !== 'worker') throw new Forbidden('Only a worker opens credentials.')
  const version = await ctx.vault.newestVersion()
  let count = 0
  for (const [what, table] of Object.entries(SEALED_PLACES)) {
    for (let last = '00000000-0000-0000-0000-000000000000'; ; ) {
      const rows = (await ctx.db
        .select({ id: table.id, tenantId: table.tenantId, name: table.name, sealed: table.sealed })
        .from(table as SealedTable)
        .where(and(staleUnder(table, version), gt(table.id, last)))
        .orderBy(table.id)
        .limit(BATCH)) as Row[]
      for (const row of rows) if (await resealOne({ ...ctx, tenantId: row.tenantId }, what, table, row, version)) count++
      if (rows.length < BATCH) break
      last = rows.at(-1)!.id
    }
  }
  return count
}

async function resealOne(ctx: Ctx, what: string, table: SealedTable, row: Row, version: number): Promise<boolean> {
  const sealed: Row['sealed'] = {}
  try {
    for (const [field, record] of Object.entries(row.sealed)) {
      const place = { tenantId: row.tenantId, objectId: row.id, field }
      sealed[field] = await ctx.vault.seal(place, await ctx.vault.open(place, record))
    }
  } catch (error) {
    if (isDatabaseAway(error)) throw error
    await noteFailure(ctx, what, row, version, error)
    return false
  }
  return inTransaction(ctx, async (tx) => {
    // As SQL: nobody changed it, so it does not count as updated.
    const { rowCount } = await tx.execute(sql`update ${table} set sealed = ${JSON.stringify(sealed)}::jsonb
      where ${table.id} = ${row.id} and ${table.sealed} = ${JSON.stringify(row.sealed)}::jsonb`)
    if (rowCount === 0) return false
    await tx.delete(resealFailures).where(eq(resealFailures.objectId, row.id))
    await audit(tx, ctx, `${what.replace(' ', '_')}.reseal`, row, { version })
    return true
  })
}

/** A row that does not open is tried again in every round, and told of once. */
async function noteFailure(ctx: Ctx, what: string, row: Row, version: number, error: unknown): Promise<void> {
  const reason =
    'It does not open: it was changed outside of Muster, or sealed with another master password. Save its secrets again.'
  const [isNew] = await ctx.db
    .insert(resealFailures)
    .values({ objectId: row.id, tenantId: row.tenantId, keyVersion: version, reason })
    .onConflictDoUpdate({
      target: resealFailures.objectId,
      set: { keyVersion: version, reason, failedAt: sql`now()` },
      setWhere: sql`${resealFailures.keyVersion} <> ${version}`,
    })
    .returning({ id: resealFailures.objectId })
  if (isNew) ctx.log.error({ err: error, what, id: row.id, name: row.name }, 'cannot seal anew')
}
