import { createServiceAccount } from '@muster/core/access'
import { newId } from '@muster/core/db'
import { type Database, graphqlIds, schema } from '@muster/core/registry'
import type { TenantFixture } from '@muster/core/testing'
import { getColumns } from 'drizzle-orm'
import { getTableConfig, type PgColumn, type PgTable } from 'drizzle-orm/pg-core'
import { globalId, type TypeName } from '../../graphql/shared/ids.ts'
import type { testApi } from '../api.ts'
import { hasOtherRows, type Rows, rowsOf } from './rows.ts'

type Row = Record<string, unknown>
/** A tenant with rows in every table. Each text column without a fixed set of values contains the marker. */
export type FilledTenant = TenantFixture & {
  marker: string
  /** Global IDs of its objects, by type. */
  ids: Record<string, string[]>
  /** By table, the row that rows of other tables refer to. */
  first: Record<string, Row>
}

const tables: Record<string, PgTable> = schema
const nameOf = (table: PgTable) => getTableConfig(table).name

/** Type names of the tables whose rows have global IDs. */
const TYPES: Record<string, PgTable> = {
  ...graphqlIds,
  Tenant: schema.tenants,
  User: schema.users,
  Worker: schema.workers,
  Session: schema.sessions,
  Passkey: schema.passkeys,
}

/** Adds a row to every table of `tenant`, and the rows of rows.ts. The names of objects are exactly the marker. */
export async function fillTenant(t: Awaited<ReturnType<typeof testApi>>, marker: string): Promise<FilledTenant> {
  const tenant = await t.given.tenant(marker)
  const { db } = t.runtime
  const first: Record<string, Row> = {
    tenants: tenant.tenant,
    users: { id: tenant.owner.actor.id },
    members: (await db.query.members.findFirst({ where: { tenantId: tenant.tenant.id, role: 'viewer' } }))!,
  }
  await createServiceAccount(tenant.owner, { name: `${marker}-service`, role: 'viewer' })
  const { rows, first: created } = await rowsOf(t, tenant, marker)
  Object.assign(first, created)
  const waiting = new Set(Object.values(tables).filter((table) => !first[nameOf(table)] && !hasOtherRows(nameOf(table))))
  while (waiting.size) {
    // Rows that depend on other rows without a foreign key are inserted last.
    const isLate = (table: PgTable) => rows[nameOf(table)]?.some((row) => typeof row === 'function') ?? false
    const onlyLate = [...waiting].every(isLate)
    const ready = [...waiting].filter((table) => isLate(table) === onlyLate && parentsOf(table).every((parent) => first[parent]))
    if (!ready.length)
      throw new Error(`Tables refer to each other: ${[...waiting].map(nameOf).join(', ')}. Give one its rows in rows.ts.`)
    for (const table of ready) {
      waiting.delete(table)
      first[nameOf(table)] = (await insertRows(db, table, rows, first, marker))!
    }
  }
  const ids: FilledTenant['ids'] = {}
  for (const [type, table] of Object.entries(TYPES)) {
    const columns = getColumns(table) as Record<string, PgColumn>
    const own = columns.tenantId ? { tenantId: tenant.tenant.id } : { id: first[nameOf(table)]?.id }
    const found = await (db.query as never as Record<string, { findMany(o: object): Promise<{ id: string }[]> }>)[
      keyOf(table)
    ]!.findMany({
      columns: { id: true },
      where: own,
      orderBy: { id: 'asc' },
    })
    const firstId = first[nameOf(table)]?.id
    ids[type] = found
      .map(({ id }) => id)
      .sort((a, b) => Number(b === firstId) - Number(a === firstId))
      .map((id) => globalId(type as TypeName, id))
  }
  return { ...tenant, marker, ids, first }
}

const keyOf = (table: PgTable) => Object.keys(tables).find((key) => tables[key] === table)!

/** Tables that the columns of a row refer to, without the table itself. */
const parentsOf = (table: PgTable): string[] =>
  getTableConfig(table)
    .foreignKeys.map((key) => nameOf(key.reference().foreignTable as PgTable))
    .filter((name) => name !== nameOf(table))

/** Inserts the rows and returns the first. */
async function insertRows(
  db: Database,
  table: PgTable,
  rows: Rows,
  first: Record<string, Row>,
  marker: string,
): Promise<Row | undefined> {
  const name = nameOf(table)
  const given = rows[name] ?? [{}]
  const columns = getColumns(table) as Record<string, PgColumn>
  const references: Record<string, unknown> = {}
  for (const key of getTableConfig(table).foreignKeys) {
    const { columns: own, foreignColumns, foreignTable } = key.reference()
    const parent = first[nameOf(foreignTable as PgTable)]
    if (!parent) continue
    own.forEach((column, i) => {
      const [from, to] = [
        keyIn(columns, column as PgColumn),
        keyIn(getColumns(foreignTable as PgTable) as never, foreignColumns[i] as PgColumn),
      ]
      references[from] = parent[to]
    })
  }
  const values = given.map((own, i) => {
    const row: Row = {}
    for (const [key, column] of Object.entries(columns)) {
      if (column.generated || column.generatedIdentity) continue
      if (key in references) row[key] = references[key]
      else row[key] = generatedValue(key, column, i === 0 ? marker : `${marker}_${i}`)
      if (row[key] === undefined) delete row[key]
    }
    return { ...row, ...(typeof own === 'function' ? own(first) : own) }
  })
  if (!values.length) return undefined
  try {
    return (
      await db
        .insert(table)
        .values(values as never)
        .returning()
    )[0] as Row
  } catch (error) {
    throw new Error(`The generated row of ${name} is invalid. Give its columns values in testing/isolation/rows.ts.`, {
      cause: error,
    })
  }
}

const keyIn = (columns: Record<string, PgColumn>, column: PgColumn) =>
  Object.keys(columns).find((key) => columns[key]!.name === column.name)!

/** A value of the column's type; undefined for its default. */
function generatedValue(key: string, column: PgColumn, marker: string): unknown {
  const type = column.getSQLType()
  if ((column as { dimensions?: number }).dimensions) {
    if (type.startsWith('text')) return [marker]
    return column.notNull && !column.hasDefault ? [] : undefined
  }
  if (type === 'text') return column.hasDefault && column.default !== '' ? undefined : marker
  if (!column.notNull || column.hasDefault) return undefined
  if (type === 'uuid') return newId()
  if (type.startsWith('timestamp')) return new Date(Date.now() + (/^(expires|ends)/.test(key) ? 86_400_000 : -60_000))
  if (type.startsWith('json')) return {}
  if (type === 'bytea') return Buffer.from(marker)
  if (type === 'boolean') return false
  return 1
}
