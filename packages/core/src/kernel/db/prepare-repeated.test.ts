import { gt, sql } from 'drizzle-orm'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase } from '../../testing/database.ts'
import { connectDb } from './client.ts'
import { MAX_PREPARED } from './prepare-repeated.ts'

let database: Awaited<ReturnType<typeof createTestDatabase>>
let connected: ReturnType<typeof connectDb>

beforeAll(async () => {
  database = await createTestDatabase()
  connected = connectDb(database.url, { max: 1 })
})
afterAll(async () => {
  await connected.close()
  await database.drop()
})

const ask = async (column: string, value: number) => {
  const { rows } = await connected.db.execute<Record<string, number>>(sql`select ${value}::int + 1 as ${sql.identifier(column)}`)
  return rows[0]?.[column]
}
const prepared = async () => {
  const { rows } = await connected.pool.query<{ statement: string }>('select statement from pg_prepared_statements')
  return rows.map(({ statement }) => statement)
}

test('prepares a statement when it is repeated and binds new values to it', async () => {
  for (const value of [1, 2]) expect(await ask('twice', value)).toBe(value + 1)
  expect(await prepared()).toEqual([])
  for (const value of [1, 5, 7, 9]) expect(await ask('often', value)).toBe(value + 1)
  expect(await prepared()).toEqual([expect.stringContaining('"often"')])
})

test('prepares nothing that writes', async () => {
  for (const _ of [1, 2, 3, 4]) await connected.db.execute(sql`create temporary table if not exists written (n int)`)
  for (const n of [1, 2, 3, 4]) await connected.db.execute(sql`insert into written values (${n})`)
  expect((await prepared()).filter((statement) => statement.includes('written'))).toEqual([])
})

test('runs a statement again that failed when it was prepared', async () => {
  const half = (n: number) => connected.db.execute<{ half: number }>(sql`select 100 / ${n}::int as half`)
  for (const _ of [1, 2, 3, 4]) await expect(half(0)).rejects.toThrow()
  expect((await half(2)).rows).toEqual([{ half: 50 }])
})

test('plans a prepared list once, not for each execution', async () => {
  await connected.db.execute(sql`create temporary table listed as select n, n % 7 as label from generate_series(1, 10000) as n`)
  await connected.db.execute(sql`create unique index on listed (n)`)
  const listed = pgTable('listed', { n: integer(), label: integer() })
  const page = (after: number) => connected.db.select().from(listed).where(gt(listed.n, after)).orderBy(listed.n).limit(51)
  for (let after = 0; after < 20; after++) expect(await page(after)).toHaveLength(51)
  const { rows } = await connected.pool.query<{ generic: number; custom: number }>(
    `select generic_plans::int as generic, custom_plans::int as custom from pg_prepared_statements where statement like '%"listed"%'`,
  )
  // Postgres compares plans for known and unknown values in the first five executions.
  expect(rows).toEqual([{ generic: 13, custom: 5 }])
})

test('prepares a limited number of statements and runs the others unprepared', async () => {
  const values = [1, 2, 3, 4]
  for (let i = 0; i < MAX_PREPARED + 50; i++) for (const value of values) expect(await ask(`many${i}`, value)).toBe(value + 1)
  expect(await prepared()).toHaveLength(MAX_PREPARED)
})
