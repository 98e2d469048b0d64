import { isDeepStrictEqual } from 'node:util'
import { getColumns } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'

export type AuditChange = { before: Record<string, unknown> | null; after: Record<string, unknown> | null }
type Row = Record<string, unknown>

/** Replacement of a secret that did not change, and of one that did. */
export const MASKED = '[hidden]'
export const MASKED_CHANGED = '[hidden, changed]'

/** Masks columns with a name that suggests a secret or its digest, except the harmless ones. */
const SECRET = /secret|passw|token|encrypt|hash|salt|private|proof|wrapped/i
const HARMLESS = new Set([
  ...['secretRefs', 'secretStoreId', 'secretsId', 'tokenPrefix'],
  ...['saltCredentialId', 'saltEauth', 'saltCaCertificate', 'saltInstalls', 'saltJobs'],
])
/** Columns that every update changes, or that identify the row or the actor. */
const IGNORED = new Set(['id', 'tenantId', 'createdAt', 'updatedAt', 'createdByName', 'updatedByName', 'changedXid'])
const isIgnored = (name: string): boolean => IGNORED.has(name) || name.endsWith('ById')

/** Whether the audit log masks a column. */
const isSecretColumn = (name: string): boolean => SECRET.test(name) && !HARMLESS.has(name)

/** Longer texts are truncated, so that one row of the log stays small. */
const MAX_TEXT = 2000
const MAX_JSON = 16_384

/**
 * Returns the columns of `table` that differ between two rows, with secrets masked. A row may have only some of the columns.
 * @param before null for a new row
 * @param after null for a deleted row
 */
export function changeOf(table: PgTable, before: object | null, after: object | null): AuditChange {
  const change: AuditChange = { before: before && {}, after: after && {} }
  const [old, current] = [before as Row | null, after as Row | null]
  for (const name of Object.keys(getColumns(table))) {
    if (isIgnored(name) || (old && current && !(name in old && name in current))) continue
    const [a, b] = [old?.[name] ?? null, current?.[name] ?? null]
    if (isDeepStrictEqual(a, b)) continue
    if (isSecretColumn(name)) {
      if (change.before && a !== null) change.before[name] = masked(a, null)
      if (change.after && b !== null) change.after[name] = masked(b, a)
    } else {
      if (change.before && (a !== null || change.after)) change.before[name] = shortened(a)
      if (change.after && (b !== null || change.before)) change.after[name] = shortened(b)
    }
  }
  return change
}

/** A map of secrets keeps its keys, so that the log shows which one changed. */
function masked(value: unknown, before: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    return before !== null && !isDeepStrictEqual(value, before) ? MASKED_CHANGED : MASKED
  const old = (before ?? {}) as Row
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, key in old && old[key] !== each ? MASKED_CHANGED : MASKED]),
  )
}

function shortened(value: unknown): unknown {
  if (typeof value === 'string' && value.length > MAX_TEXT) return `${value.slice(0, MAX_TEXT)}…`
  if (value !== null && typeof value === 'object' && !(value instanceof Date)) {
    const text = JSON.stringify(value)
    if (text.length > MAX_JSON) return `${text.slice(0, MAX_TEXT)}…`
  }
  return value
}
