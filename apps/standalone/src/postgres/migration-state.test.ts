import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { rulesId } from '@muster/core/role-urls'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrationState } from './migration-state.ts'
import type { RunningPostgres } from './start-postgres.ts'
import { startTestPostgres } from './test-postgres.ts'

/** SHA-256 of an empty file. */
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

let server: RunningPostgres
let folder: string
beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-migrations-'))
  for (const name of ['1_first', '2_second']) {
    fs.mkdirSync(path.join(folder, name))
    fs.writeFileSync(path.join(folder, name, 'migration.sql'), '')
  }
  server = await startTestPostgres()
})
afterAll(async () => {
  await server.stop()
  fs.rmSync(folder, { recursive: true, force: true })
})

test('distinguishes a current database, one of an older version, and others', async () => {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  try {
    const roles = { app: server.url, system: server.url }
    const check = () => migrationState(server.url, roles, folder)
    const comment = (rules: string) => client.query(`comment on schema drizzle is '${rules}'`)
    const rules = rulesId({ app: 'muster', system: 'muster' })
    expect(await check()).toBe('other')
    await client.query('create schema drizzle; create table drizzle.__drizzle_migrations (name text, hash text)')
    await client.query(`insert into drizzle.__drizzle_migrations values ('2_second', '${EMPTY}')`)
    await comment('rules of an older version')
    expect(await check()).toBe('upgrade')
    await client.query(`insert into drizzle.__drizzle_migrations values ('1_first', 'changed')`)
    expect(await check()).toBe('other')
    await client.query(`update drizzle.__drizzle_migrations set hash = '${EMPTY}'`)
    expect(await check()).toBe('other')
    await comment(rules)
    expect(await check()).toBe('current')
    const rejected = server.url.replace(/:[^:@]*@/, ':wrong@')
    expect(await migrationState(server.url, { ...roles, app: rejected }, folder)).toBe('other')
    await client.query(`insert into drizzle.__drizzle_migrations values ('3_newer', '${EMPTY}')`)
    expect(await check()).toBe('other')
  } finally {
    await client.end()
  }
})
