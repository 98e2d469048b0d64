import { type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn, PgTable } from 'drizzle-orm/pg-core'
import { alertRoutes } from '../alerts/tables.ts'
import { auditSinks } from '../audit-sinks/tables.ts'
import { ledgerSinks } from '../ledger/tables.ts'
import { openchamiTargets } from '../openchami/tables.ts'
import { credentialRotations } from '../rotations/tables.ts'
import { runSecrets } from '../runs/tables.ts'
import { triggers } from '../triggers/tables.ts'
import { variableSecrets } from '../variables/tables.ts'
import { credentials, secretStores } from './tables.ts'

/** A table with encrypted records. `encrypted` maps a field to its record, which is bound to the row's tenant, id and field. */
export type EncryptedTable = PgTable & { id: AnyPgColumn; tenantId: AnyPgColumn; name: AnyPgColumn; encrypted: AnyPgColumn }

/** Types of objects with encrypted records. */
export type EncryptedObjectType =
  | 'credential'
  | 'credential rotation'
  | 'secret store'
  | 'run'
  | 'secret variable'
  | 'alert route'
  | 'audit sink'
  | 'ledger sink'
  | 'OpenCHAMI target'
  | 'trigger'

/** The table of each type. A key rotation re-encrypts all of them. */
export const ENCRYPTED_TABLES: Record<EncryptedObjectType, EncryptedTable> = {
  credential: credentials,
  'credential rotation': credentialRotations,
  'secret store': secretStores,
  run: runSecrets,
  'secret variable': variableSecrets,
  'alert route': alertRoutes,
  'audit sink': auditSinks,
  'ledger sink': ledgerSinks,
  'OpenCHAMI target': openchamiTargets,
  trigger: triggers,
}

/** The first byte of a record is its key version. */
export const versionOf = (record: SQL): SQL<number> => sql`get_byte(decode(substr(${record}, 1, 4), 'base64'), 0)`

/** Condition: the row has a record with a key version older than `version`. */
export const encryptedBefore = (table: EncryptedTable, version: number): SQL =>
  sql`exists (select from jsonb_each_text(${table.encrypted}) s where ${versionOf(sql`s.value`)} < ${version})`
