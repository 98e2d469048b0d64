import { afterAll, beforeAll, expect, test } from 'vitest'
import { pickPort } from '../ports.ts'
import { checkDatabase } from './external-postgres.ts'
import type { RunningPostgres } from './start-postgres.ts'
import { startTestPostgres } from './test-postgres.ts'

let server: RunningPostgres
beforeAll(async () => {
  server = await startTestPostgres()
})
afterAll(() => server.stop())

test('returns the version of a supported Postgres', async () => {
  expect(await checkDatabase(server.url)).toMatch(/^18\./)
})

test('reports host, port and the problem without the password', async () => {
  const port = await pickPort()
  await expect(checkDatabase(`postgres://me:hunter2@127.0.0.1:${port}/x`)).rejects.toThrow(
    `Cannot connect to Postgres at 127.0.0.1:${port} (DATABASE_URL): connect ECONNREFUSED`,
  )
  const wrongPassword = server.url.replace(/:[^:@]+@/, ':hunter2@')
  const error = await checkDatabase(wrongPassword).catch((e: Error) => e.message)
  expect(error).toContain('password authentication failed for user "muster"')
  expect(error).not.toContain('hunter2')
})
