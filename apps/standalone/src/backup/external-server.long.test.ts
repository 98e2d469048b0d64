import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { roleUrls } from '@muster/core/role-urls'
import { countRows } from '@muster/core/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrateDb } from '../../../../packages/core/src/kernel/db/migrate.ts'
import { TEST_MASTER_PASSWORD } from '../../../../packages/core/src/testing/master-password.ts'
import { testApi } from '../../../api/src/testing/api.ts'
import { type Filled, fillDatabase } from '../../../api/src/testing/releases/fill-database.ts'
import { pickPort } from '../ports.ts'
import { startTestPostgres, type TestPostgres } from '../postgres/test-postgres.ts'
import { root } from '../root.ts'
import { debianPostgres } from '../testing/debian-postgres.ts'
import { query } from '../testing/query.ts'
import { createBackup } from './create-backup.ts'
import { restoreBackup } from './restore-backup.ts'

const native = debianPostgres()
const OWNER = { user: 'site', password: 'the password of the owner' }

describe.skipIf(!native)('a backup of an external Postgres', () => {
  let home: string
  let source: TestPostgres
  let target: TestPostgres
  let t: Awaited<ReturnType<typeof testApi>>
  let filled: Filled
  let targetUrl: string
  beforeAll(async () => {
    home = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-external-'))
    ;[source, target] = await Promise.all([startTestPostgres({ native: native! }), startTestPostgres({ native: native! })])
    process.env.TEST_DATABASE_URL = source.url
    t = await testApi({ vault: 'real' })
    filled = await fillDatabase(t)
    // An owner without the rights of a superuser, as of a managed server.
    await query(target.url, `create role ${OWNER.user} login createrole bypassrls password '${OWNER.password}'`)
    await query(target.url, `create database ${OWNER.user} owner ${OWNER.user}`)
    const url = new URL(target.url)
    Object.assign(url, { username: OWNER.user, password: OWNER.password, pathname: `/${OWNER.user}` })
    targetUrl = url.href
  })
  afterAll(async () => {
    await t?.close()
    await Promise.all([source?.stop(), target?.stop()])
    if (home) fs.rmSync(home, { recursive: true, force: true })
  })
  const at = (...names: string[]) => path.join(home, ...names)

  test('restores into an empty database of another server and owner', async () => {
    fs.mkdirSync(at('artifacts/run'), { recursive: true })
    fs.writeFileSync(at('artifacts/run/log.txt'), 'the log')
    await createBackup({ databaseUrl: t.url, postgresDir: null, artifacts: { dir: at('artifacts') } }, at('backup'))
    const into = { dataDir: at('data'), databaseUrl: targetUrl, artifactDir: at('data/artifacts') }
    await restoreBackup(at('backup'), into)
    expect(await countRows(targetUrl)).toEqual(await countRows(t.url))
    expect(fs.readFileSync(at('data/artifacts/run/log.txt'), 'utf8')).toBe('the log')
    await expect(restoreBackup(at('backup'), { ...into, artifactDir: null })).rejects.toThrow(
      /is not empty .*Nothing was changed/,
    )
  })

  test('gets the roles of the application from the next migration, or from the SQL that it prints', async () => {
    const reason = await migrateDb(targetUrl).then(
      () => '',
      (error: Error) => error.message,
    )
    // Before Postgres 16, only a superuser creates roles with BYPASSRLS.
    if (reason) await query(target.url, reason.slice(reason.indexOf('\n\n')))
    await migrateDb(targetUrl)

    const { app, system } = roleUrls({ DATABASE_URL: targetUrl })
    const nodes = 'select count(*)::int as n from compute_nodes'
    const [all] = await query(targetUrl, nodes)
    expect(await query(system, nodes)).toEqual([all])
    expect(await query(app, nodes).catch(() => [{ n: 0 }])).toEqual([{ n: 0 }])
    await expect(query(app, 'delete from audit_entries')).rejects.toThrow(/permission denied/)
    await expect(query(app, 'create table mine (id int)')).rejects.toThrow(/permission denied/)
  })

  test('serves the API: an admin signs in and sees the nodes of the tenant', async () => {
    const port = await pickPort()
    const url = `http://127.0.0.1:${port}`
    fs.writeFileSync(at('master-password'), TEST_MASTER_PASSWORD, { mode: 0o600 })
    const { app, system } = roleUrls({ DATABASE_URL: targetUrl })
    const env: NodeJS.ProcessEnv = {
      PATH: process.env.PATH,
      DATABASE_APP_URL: app,
      DATABASE_SYSTEM_URL: system,
      PORT: String(port),
      MUSTER_PUBLIC_URL: url,
      MUSTER_DATA_DIR: at('data'),
      ARTIFACT_DIR: at('data/artifacts'),
      CREDENTIAL_MASTER_PASSWORD_FILE: at('master-password'),
    }
    const api = spawn(process.execPath, ['apps/api/src/main.ts'], { cwd: root, env, stdio: 'ignore' })
    const ask = async <T>(document: string, variables: object, token?: string): Promise<T> => {
      const headers = { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) }
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ query: document, variables }),
      })
      return ((await response.json()) as { data: T }).data
    }
    try {
      const isReady = () =>
        fetch(`${url}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        )
      await expect.poll(async () => api.exitCode !== null || (await isReady())).toBe(true)
      const { it } = await ask<{ it: { sessionToken: string } }>(
        'mutation ($input: SignInInput!) { it: signIn(input: $input) { ... on SignInPayload { sessionToken } } }',
        { input: filled.admin },
      )
      const { nodes } = await ask<{ nodes: { totalCount: number } }>('{ nodes { totalCount } }', {}, it.sessionToken)
      const [own] = await query(
        t.url,
        `select count(*)::int as n from compute_nodes where tenant_id = '${filled.tenant.tenant.id}'`,
      )
      expect(nodes.totalCount).toBe(own!.n)
    } finally {
      api.kill('SIGTERM')
      if (api.exitCode === null && api.signalCode === null) await once(api, 'exit')
    }
  })
})
