import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sealAuditEntries, verifyAuditChain } from '@muster/core/audit'
import { SYSTEM, tenantCtx } from '@muster/core/context'
import { roleUrls } from '@muster/core/role-urls'
import { countRows, createEmptyDatabase, fillEmptyTables, listReleases, loadRelease, testRuntime } from '@muster/core/testing'
import { expect, onTestFinished, test } from 'vitest'
import { migrateDb } from '../../../packages/core/src/kernel/db/migrate.ts'
import { testApi } from './testing/api.ts'
import { fillDatabase } from './testing/releases/fill-database.ts'
import { readSchema } from './testing/releases/read-schema.ts'

const releases = listReleases()

test('released migrations are unchanged', () => {
  for (const { version, migrations } of releases)
    for (const [name, released] of Object.entries(migrations)) {
      const file = fileURLToPath(new URL(`../../../drizzle/${name}/migration.sql`, import.meta.url))
      const current = createHash('sha256').update(readFileSync(file)).digest('hex')
      expect(
        { name, hash: current },
        `Version ${version} was released with ${name}. Add a migration with drizzle-kit instead.`,
      ).toEqual({
        name,
        hash: released,
      })
    }
})

test('the next release can fill every table', async () => {
  const t = await testApi()
  onTestFinished(() => t.close())
  await fillDatabase(t)
  expect(await fillEmptyTables(t.url)).toEqual([])
})

test.each(releases)('the database of version $version is migrated without loss', async (release) => {
  const database = await createEmptyDatabase()
  await loadRelease(release, database.url)
  expect(await countRows(database.url)).toEqual(release.rows)
  await migrateDb(database.url, undefined, undefined, roleUrls({ DATABASE_URL: database.url }))
  // Change this line together with a migration that deletes rows.
  expect(await countRows(database.url)).toMatchObject(release.rows)

  const t = await testApi({ database, vault: 'real' })
  onTestFinished(() => t.close())
  const fresh = await testRuntime()
  onTestFinished(() => fresh.close())
  expect(await readSchema(t)).toEqual(await readSchema(fresh))

  for (const { id, tenantId, encrypted } of await t.runtime.db.query.credentials.findMany())
    for (const [field, text] of Object.entries(encrypted as Record<string, string>))
      expect(await t.runtime.vault.open({ tenantId, objectId: id, field }, text)).toBeTruthy()

  const { it: session } = await t.ask<{ it: { sessionToken: string } }>(
    null,
    'mutation ($input: SignInInput!) { it: signIn(input: $input) { ... on SignInPayload { sessionToken } ... on Error { message } } }',
    { input: release.admin },
  )
  const admin = { headers: { authorization: `Bearer ${session.sessionToken}` } }
  const { viewer, nodes, jobRuns, credentials } = await t.ask<{
    viewer: { tenant: { id: string } }
    nodes: { totalCount: number }
    jobRuns: { totalCount: number }
    credentials: { edges: { node: { name: string } }[] }
  }>(
    admin,
    `{ viewer { tenant { id } } nodes { totalCount } jobRuns { totalCount }
       credentials(first: 100) { edges { node { name } } } }`,
  )
  expect(Math.min(nodes.totalCount, jobRuns.totalCount)).toBeGreaterThan(0)
  expect(credentials.edges.map(({ node }) => node.name)).toContain('of the release')
  const group = await t.ask(admin, 'mutation { it: createNodeGroup(input: { name: "after_the_upgrade" }) { __typename } }')
  expect(group).toEqual({ it: { __typename: 'CreateNodeGroupPayload' } })

  await sealAuditEntries(t.runtime)
  const tenants = await t.runtime.db.query.tenants.findMany()
  expect(tenants.length).toBeGreaterThan(1)
  for (const { id } of tenants) {
    const chain = await verifyAuditChain(tenantCtx(t.runtime, id, SYSTEM))
    expect(chain).toMatchObject({ problems: [], unsealedCount: 0 })
    expect(chain.lastSeq).toBeGreaterThan(0)
  }
  expect(viewer.tenant.id).toBeTruthy()
})
