import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkDatabase } from './external-postgres.ts'
import { pickPort } from './ports.ts'
import type { RunningPostgres } from './postgres.ts'
import { startTestPostgres } from './test-postgres.ts'

let server: RunningPostgres
beforeAll(async () => {
  server = await startTestPostgres()
})
afterAll(() => server.stop())

test('says the version of a Postgres that will do', async () => {
  expect(await checkDatabase(server.url)).toMatch(/^18\./)
})

test('names host and port and what is wrong, and no password', async () => {
  const port = await pickPort()
  await expect(checkDatabase(`postgres://me:hunter2@127.0.0.1:${port}/x`)).rejects.toThrow(
    `Postgres at 127.0.0.1:${port}, from DATABASE_URL, cannot be used: connect ECONNREFUSED`,
  )
  const wrongPassword = server.url.replace(/:[^:@]+@/, ':hunter2@')
  const error = await checkDatabase(wrongPassword).catch((e: Error) => e.message)
  expect(error).toContain('password authentication failed for user "muster"')
  expect(error).not.toContain('hunter2')
})
