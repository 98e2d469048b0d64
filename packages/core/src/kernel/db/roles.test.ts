import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createEmptyDatabase } from '../../testing/database.ts'
import { type RoleUrls, userOf } from './role-urls.ts'
import { ensureRoles } from './roles.ts'

let database: Awaited<ReturnType<typeof createEmptyDatabase>>
let admin: pg.Client
let suffix: string
const created: string[] = []
beforeEach(async () => {
  database = await createEmptyDatabase()
  admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  suffix = randomBytes(6).toString('hex')
})
afterEach(async () => {
  for (const role of created.splice(0)) await admin.query(`drop role if exists ${role}`)
  await admin.end()
  await database.drop()
})

const urlOf = (user: string) => {
  const url = new URL(database.url)
  url.username = user
  url.password = 'secret'
  return url.href
}
/** Creates a login role with the attributes. Roles belong to the server, so each test has its own. */
async function createRole(name: string, attributes: string): Promise<string> {
  const role = `${name}_${suffix}`
  created.push(role)
  await admin.query(`create role ${role} login password 'secret' ${attributes}`)
  return urlOf(role)
}
async function ensure(ownerUrl: string, urls: Pick<RoleUrls, 'app' | 'system'>): Promise<string> {
  const owner = new pg.Client({ connectionString: ownerUrl })
  await owner.connect()
  return ensureRoles(owner, urls as RoleUrls)
    .then(
      () => 'done',
      (error: Error) => error.message,
    )
    .finally(() => owner.end())
}
const suitable = async () => ({ app: await createRole('app', 'nobypassrls'), system: await createRole('system', 'bypassrls') })

test('accepts an owner that bypasses row-level security, with roles that exist', async () => {
  expect(await ensure(await createRole('owner', 'bypassrls nocreaterole'), await suitable())).toBe('done')
})

test('refuses an owner to which row-level security applies, with the SQL for the administrator', async () => {
  const message = await ensure(await createRole('owner', 'nobypassrls createrole'), await suitable())
  expect(message).toContain(`\n\nalter role "owner_${suffix}" bypassrls;\n`)
})

test.each([
  ['app', 'bypassrls', 'nobypassrls'],
  ['system', 'nobypassrls', 'bypassrls'],
  ['app', 'nobypassrls createrole', 'nobypassrls'],
] as const)('refuses the role %s with %s when the owner cannot change it', async (name, attributes, right) => {
  const urls = { ...(await suitable()), [name]: await createRole(`wrong_${name}`, attributes) }
  const message = await ensure(await createRole('owner', 'bypassrls nocreaterole'), urls)
  const role = userOf(urls[name])
  expect(message).toMatch(new RegExp(`alter role \\S*${role}\\S* .* ${right} `))
})
