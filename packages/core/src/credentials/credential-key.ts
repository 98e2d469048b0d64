import { desc, sql } from 'drizzle-orm'
import type { Ctx } from '../kernel/context.ts'
import { ENCRYPTED_TABLES, encryptedBefore, versionOf } from './encrypted-tables.ts'
import { credentialKeys, reencryptFailures } from './tables.ts'

export type CredentialKey = {
  /** The version that secrets are sealed with. */
  version: number
  createdAt: Date
  /** Of the caller's tenant: rows that hold secrets, and those which an older version sealed and a worker has yet to seal anew. */
  total: number
  left: number
  /** Those that could not be sealed anew, and are still as they were. */
  failed: { what: string; id: string; name: string; reason: string }[]
  /** Older versions with which records of any tenant are still sealed. The other older ones are not needed any more. */
  olderInUse: number[]
}

/** The key that secrets are sealed with, and how far its rotation is. */
export async function credentialKey(ctx: Ctx): Promise<CredentialKey> {
  const [key] = await ctx.db.select().from(credentialKeys).orderBy(desc(credentialKeys.version)).limit(1)
  const { version, createdAt } = key!
  const places = Object.entries(ENCRYPTED_TABLES)
  const rows = sql.join(
    places.map(
      ([
        what,
        table,
      ]) => sql`select ${table.id} as id, ${table.tenantId} as tenant_id, ${table.name} as name, ${what}::text as what,
        ${encryptedBefore(table, version)} as is_stale from ${table} where ${table.encrypted} <> '{}'::jsonb and ${table.tenantId} = ${ctx.tenantId}`,
    ),
    sql` union all `,
  )
  const counted = await ctx.db.execute<{ total: number; stale: number; failed: CredentialKey['failed'] }>(sql`
    with held as (${rows})
    select count(*)::int as total, (count(*) filter (where is_stale))::int as stale,
      coalesce(jsonb_agg(jsonb_build_object('what', what, 'id', held.id, 'name', held.name, 'reason', f.reason) order by held.name)
        filter (where is_stale and f.object_id is not null), '[]') as failed
    from held left join ${reencryptFailures} f on f.object_id = held.id and f.key_version = ${version}`)
  const { total, stale, failed } = counted.rows[0]!
  const inUse = await ctx.db.execute<{ version: number }>(
    sql`select distinct version from (${sql.join(
      places.map(
        ([, table]) => sql`select ${versionOf(sql`s.value`)} as version from ${table}, jsonb_each_text(${table.encrypted}) s`,
      ),
      sql` union `,
    )}) used where version < ${version} order by version`,
  )
  return { version, createdAt, total, left: stale - failed.length, failed, olderInUse: inUse.rows.map((row) => row.version) }
}
