import { desc, sql } from 'drizzle-orm'
import type { Ctx } from '../kernel/context.ts'
import { ENCRYPTED_TABLES, type EncryptedObjectType, encryptedBefore, versionOf } from './encrypted-tables.ts'
import { credentialKeys, reencryptFailures } from './tables.ts'

export type CredentialKey = {
  /** The version that encrypts new secrets. */
  version: number
  createdAt: Date
  /** Number of the caller's tenant's rows with secrets. */
  total: number
  /** Number of rows of all tenants with an older version that a worker has yet to re-encrypt: the key belongs to the installation. */
  left: number
  /** Rows that could not be re-encrypted and did not change since. */
  failed: { what: EncryptedObjectType; id: string; name: string; reason: string }[]
  /** Older versions that records of any tenant still use. The other older versions are no longer needed. */
  olderInUse: number[]
}

/** Returns the current key version and the progress of its rotation. */
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
  const counted = await ctx.db.execute<{ total: number; failed: CredentialKey['failed'] }>(sql`
    with held as (${rows})
    select count(*)::int as total,
      coalesce(jsonb_agg(jsonb_build_object('what', what, 'id', held.id, 'name', held.name, 'reason', f.reason) order by held.name)
        filter (where is_stale and f.object_id is not null), '[]') as failed
    from held left join ${reencryptFailures} f on f.object_id = held.id and f.key_version = ${version}`)
  const { total, failed } = counted.rows[0]!
  const stale = sql.join(
    places.map(([, table]) => sql`select ${table.id} as id from ${table} where ${encryptedBefore(table, version)}`),
    sql` union all `,
  )
  const [pending] = (
    await ctx.systemDb.execute<{ left: number }>(sql`
      select count(*)::int as left from (${stale}) held
      where not exists (select from ${reencryptFailures} f where f.object_id = held.id and f.key_version = ${version})`)
  ).rows
  const inUse = await ctx.systemDb.execute<{ version: number }>(
    sql`select distinct version from (${sql.join(
      places.map(
        ([, table]) => sql`select ${versionOf(sql`s.value`)} as version from ${table}, jsonb_each_text(${table.encrypted}) s`,
      ),
      sql` union `,
    )}) used where version < ${version} order by version`,
  )
  return { version, createdAt, total, left: pending!.left, failed, olderInUse: inUse.rows.map((row) => row.version) }
}
