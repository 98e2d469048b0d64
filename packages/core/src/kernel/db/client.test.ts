import type { Socket } from 'node:net'
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../../testing/database.ts'
import { isTransientDbError } from '../retry-transient.ts'
import { connectDb } from './client.ts'

test('a connection lost inside a transaction fails only that transaction', async () => {
  const database = await createTestDatabase()
  const { db, close } = connectDb(database.url, { max: 2 })
  try {
    const failed = db.transaction(async (tx) => {
      const { rows } = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`)
      const over = new Promise((resolve) => process.once('uncaughtExceptionMonitor', resolve))
      await db.execute(sql`select pg_terminate_backend(${rows[0]!.pid}, 5000)`)
      // When this query returns, the termination message has arrived too.
      await db.execute(sql`select pg_sleep(0.1)`)
      await Promise.race([over, tx.execute(sql`select 1`)])
    })
    expect(isTransientDbError(await failed.catch((error) => error))).toBe(true)
    expect((await db.execute(sql`select 1 as one`)).rows).toEqual([{ one: 1 }])
  } finally {
    await close()
    await database.drop()
  }
})

test('a connection lost at BEGIN leaves the pool', async () => {
  const database = await createTestDatabase()
  const { db, pool, close } = connectDb(database.url, { max: 1 })
  try {
    for (let i = 0; i < 3; i++) {
      pool.once('acquire', (client) => (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy())
      expect(isTransientDbError(await db.transaction(async () => {}).catch((error) => error))).toBe(true)
      expect((await db.execute(sql`select 1 as one`)).rows).toEqual([{ one: 1 }])
      expect(await db.transaction(async (tx) => (await tx.execute(sql`select 2 as two`)).rows)).toEqual([{ two: 2 }])
    }
  } finally {
    await close()
    await database.drop()
  }
})
