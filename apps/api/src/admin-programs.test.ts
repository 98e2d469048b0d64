import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { schema } from '@muster/core/registry'
import { nodeEnvironment, TEST_MASTER_PASSWORD, type TestRuntime, testRuntime } from '@muster/core/testing'
import { and, eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Auth, createAuth } from './sign-in/auth.ts'
import { insertSession } from './testing/sessions.ts'

const { accounts, auditEntries, sessions, twoFactors, users } = schema
const PUBLIC_URL = 'http://localhost:3000'
let t: TestRuntime
let auth: Auth
beforeAll(async () => {
  t = await testRuntime({ vault: 'real' })
  auth = createAuth({ db: t.runtime.db, secret: 'a secret for tests only', publicUrl: PUBLIC_URL, log: t.runtime.log })
})
afterAll(() => t?.close())

/** Runs a program of `bin/muster-admin`. */
async function run(name: string, ...args: string[]) {
  const program = fileURLToPath(new URL(`./${name}.ts`, import.meta.url))
  const env = {
    ...nodeEnvironment,
    DATABASE_URL: t.url,
    CREDENTIAL_MASTER_PASSWORD: TEST_MASTER_PASSWORD,
    MUSTER_PUBLIC_URL: PUBLIC_URL,
  }
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => (out += chunk))
  child.stderr.on('data', (chunk) => (err += chunk))
  const [code] = (await once(child, 'close')) as [number]
  return { out, err, code }
}

const rowsOf = async (userId: string) => ({
  sessions: await t.runtime.db.$count(sessions, eq(sessions.userId, userId)),
  passwords: await t.runtime.db.$count(accounts, eq(accounts.userId, userId)),
  secondFactors: await t.runtime.db.$count(twoFactors, eq(twoFactors.userId, userId)),
})

/** A user with a password, a second factor and a session. */
async function addUser(email: string, role: 'owner' | 'operator', tenantId: string): Promise<string> {
  const { db } = t.runtime
  const { id: userId } = await auth.ensureUser(email, role)
  await db.insert(schema.members).values({ tenantId, userId, role })
  await db.insert(accounts).values({ userId, accountId: userId, providerId: 'credential', password: 'a hash' })
  await db.insert(twoFactors).values({ userId, secret: 'encrypted', backupCodes: 'encrypted', verified: true })
  await db.update(users).set({ twoFactorEnabled: true }).where(eq(users.id, userId))
  await insertSession(db, userId)
  return userId
}

test('reset-owner removes what signs the owner in, and prints a link that works once', async () => {
  const { db } = t.runtime
  const [tenant] = await db.insert(schema.tenants).values({ name: 'site' }).returning()
  const owner = await addUser('owner@site.test', 'owner', tenant!.id)
  const operator = await addUser('ops@site.test', 'operator', tenant!.id)

  const { code, out, err } = await run('reset-owner')
  expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining('all sessions of owner@site.test were removed') })
  expect(await rowsOf(owner)).toEqual({ sessions: 0, passwords: 0, secondFactors: 0 })
  expect(await rowsOf(operator)).toEqual({ sessions: 1, passwords: 1, secondFactors: 1 })
  expect(await db.$count(auditEntries, eq(auditEntries.action, 'member.reset_sign_in'))).toBe(1)

  const link = new URL(out.trim())
  expect(link.origin + link.pathname).toBe(`${PUBLIC_URL}/sign-in`)
  const open = () =>
    auth.signInWithLink(
      { headers: new Headers(), requestId: 'test', responseHeaders: null },
      /^#token=(\w+)$/.exec(link.hash)![1]!,
    )
  expect((await open()).viewer.actor).toMatchObject({ id: owner, role: 'owner' })
  await expect(open()).rejects.toThrow('already used')

  expect(await run('reset-owner', 'nobody@site.test')).toMatchObject({
    code: 1,
    out: '',
    err: 'There is no member with the address nobody@site.test.\n',
  })
  await addUser('second@site.test', 'owner', tenant!.id)
  expect(await run('reset-owner')).toMatchObject({
    code: 1,
    err: 'There are several owners. Name one of their addresses: owner@site.test, second@site.test\n',
  })
  expect(await run('reset-owner', 'OPS@site.test')).toMatchObject({ code: 0 })
  expect(await rowsOf(operator)).toEqual({ sessions: 0, passwords: 0, secondFactors: 0 })
})

test('appoint makes a user an installation administrator, and records it for the installation', async () => {
  const { db } = t.runtime
  const userId = await addUser('admin@site.test', 'operator', (await t.given.tenant()).tenant.id)
  expect(await run('appoint', 'Admin@site.test')).toEqual({
    code: 0,
    out: 'operator (admin@site.test) is now an installation administrator.\n',
    err: '',
  })
  expect(await db.$count(users, and(eq(users.id, userId), users.isInstallationAdmin))).toBe(1)
  const rows = await db.select().from(auditEntries).where(eq(auditEntries.action, 'member.appoint_installation_admin'))
  expect(rows.filter(({ objectId }) => objectId === userId)).toMatchObject([
    { tenantId: null, actorName: 'Muster', channel: 'system' },
  ])
  expect(await run('appoint', 'admin@site.test')).toMatchObject({ code: 1, out: '', err: expect.stringContaining('is already') })
})

test('change-email changes the address of a user, who then counts as not verified', async () => {
  const { db } = t.runtime
  const userId = await addUser('old@site.test', 'operator', (await t.given.tenant()).tenant.id)
  const { out, code } = await run('change-email', 'old@site.test', 'New@site.test')
  expect({ out, code }).toEqual({ out: 'operator now signs in with new@site.test.\n', code: 0 })
  expect(await db.query.users.findFirst({ where: { id: userId } })).toMatchObject({
    email: 'new@site.test',
    emailVerified: false,
  })
  const [row] = await db.select().from(auditEntries).where(eq(auditEntries.action, 'user.change_email'))
  expect(row).toMatchObject({ objectId: userId, actorName: 'Muster', details: { from: 'old@site.test', to: 'new@site.test' } })
  expect(await run('change-email', 'old@site.test', 'x@site.test')).toMatchObject({
    code: 1,
    err: 'There is no user with the address old@site.test.\n',
  })
  await addUser('taken@site.test', 'operator', (await t.given.tenant()).tenant.id)
  expect(await run('change-email', 'new@site.test', 'taken@site.test')).toMatchObject({
    code: 1,
    err: expect.stringContaining('belongs to another account'),
  })
})
