import { sql } from 'drizzle-orm'
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

test('prepares a limited number of statements and runs the others unprepared', async () => {
  const values = [1, 2, 3, 4]
  for (let i = 0; i < MAX_PREPARED + 50; i++) for (const value of values) expect(await ask(`many${i}`, value)).toBe(value + 1)
  expect(await prepared()).toHaveLength(MAX_PREPARED)
})
