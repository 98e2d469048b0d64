import { type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn, PgTable } from 'drizzle-orm/pg-core'
import { alertRoutes } from '../alerts/tables.ts'
import { runSecrets } from '../runs/tables.ts'
import { variableSecrets } from '../variables/tables.ts'
import { credentials, secretStores } from './tables.ts'

/** A table whose rows hold sealed records: `sealed` is field -> record, sealed for the row's tenant and id and that field. */
export type EncryptedTable = PgTable & { id: AnyPgColumn; tenantId: AnyPgColumn; name: AnyPgColumn; encrypted: AnyPgColumn }

/** Every such table, by what messages call its rows: what is sealed anew when the key changes. */
export const ENCRYPTED_TABLES: Record<string, EncryptedTable> = {
  credential: credentials,
  'secret store': secretStores,
  'run of': runSecrets,
  'secret variable': variableSecrets,
  'alert route': alertRoutes,
}

/** A record begins with its key version, one byte. */
export const versionOf = (record: SQL): SQL<number> => sql`get_byte(decode(substr(${record}, 1, 4), 'base64'), 0)`

/** The row has a record that an older key than `version` sealed. */
export const encryptedBefore = (table: EncryptedTable, version: number): SQL =>
  sql`exists (select from jsonb_each_text(${table.encrypted}) s where ${versionOf(sql`s.value`)} < ${version})`
