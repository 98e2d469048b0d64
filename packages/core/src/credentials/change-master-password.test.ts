import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { TenantFixture } from '../testing/factories.ts'
import { fastDeriveKey, TEST_MASTER_PASSWORD } from '../testing/master-password.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { changeMasterPassword, openVault } from './open-vault.ts'
import { reencryptCredentials } from './reencrypt-credentials.ts'
import { rotateCredentialKey } from './rotate-credential-key.ts'
import { credentialKeys, credentials } from './tables.ts'

const NEXT = 'the next master password'

let t: TestRuntime
let ours: TenantFixture
beforeEach(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
})
afterEach(() => t.close())

const change = (from: string, to: string) => changeMasterPassword(t.runtime.db, from, to, fastDeriveKey)
const opened = (password: string) => openVault(t.runtime.db, password, 1, fastDeriveKey)
/** Decrypts every credential in a process that starts with this password. */
async function secrets(password: string): Promise<string[]> {
  const vault = await opened(password)
  const rows = await t.runtime.db.select().from(credentials).orderBy(credentials.id)
  return Promise.all(
    rows.map((row) => vault.open({ tenantId: row.tenantId, objectId: row.id, field: 'password' }, row.encrypted.password!)),
  )
}

test('wraps every key version with the new password and changes no record', async () => {
  await t.given.credential(ours.admin, 'BECOME', { password: 'of version 1' })
  await t.runtime.db.insert(credentialKeys).values(await t.runtime.vault.makeKey(t.runtime.db, 2))
  await t.given.credential(ours.admin, 'BECOME', { password: 'of version 2' })
  const before = await t.runtime.db.select().from(credentials)
  expect(await change(TEST_MASTER_PASSWORD, NEXT)).toBe(true)
  expect(await secrets(NEXT)).toEqual(['of version 1', 'of version 2'])
  await expect(opened(TEST_MASTER_PASSWORD)).rejects.toThrow(/master password is incorrect/)
  expect(await t.runtime.db.select().from(credentials)).toEqual(before)
  // Repeat the change, change back, and try a password that was never valid.
  expect(await change(TEST_MASTER_PASSWORD, NEXT)).toBe(false)
  expect(await change(NEXT, TEST_MASTER_PASSWORD)).toBe(true)
  await expect(change('never the one', NEXT)).rejects.toThrow(/is incorrect/)
  expect(await secrets(TEST_MASTER_PASSWORD)).toEqual(['of version 1', 'of version 2'])
})

test('a process with the old password keeps its keys and creates no new one', async () => {
  const row = await t.given.credential(ours.admin, 'BECOME', { password: 'kept' })
  await change(TEST_MASTER_PASSWORD, NEXT)
  const { vault } = t.runtime
  expect(await vault.open({ tenantId: row.tenantId, objectId: row.id, field: 'password' }, row.encrypted.password!)).toBe('kept')
  await t.given.credential(ours.admin, 'BECOME', { password: 'encrypted since' })
  await expect(rotateCredentialKey(ours.installationAdmin)).rejects.toMatchObject({ code: 'CONFLICT' })
  expect((await t.runtime.db.select().from(credentialKeys)).map(({ version }) => version)).toEqual([1])
  expect(await secrets(NEXT)).toEqual(['kept', 'encrypted since'])
  const fresh = { ...ours.installationAdmin, vault: await opened(NEXT) }
  expect(await rotateCredentialKey(fresh)).toMatchObject({ version: 2 })
  expect(await reencryptCredentials({ ...ours.worker, vault: fresh.vault })).toBe(2)
  expect(await secrets(NEXT)).toEqual(['kept', 'encrypted since'])
})

test('after a kill at any point, exactly one of the two passwords is valid', async () => {
  await t.given.credential(ours.admin, 'BECOME', { password: 'never lost' })
  for (const version of [2, 3])
    await t.runtime.db.insert(credentialKeys).values(await t.runtime.vault.makeKey(t.runtime.db, version))
  for (let after = 1; after <= 12; after++) {
    // The process exits at its nth derivation.
    let count = 0
    const cut: typeof fastDeriveKey = async (password, salt) => {
      if (++count === after) throw new Error('killed')
      return fastDeriveKey(password, salt)
    }
    const end = await changeMasterPassword(t.runtime.db, TEST_MASTER_PASSWORD, NEXT, cut).catch(() => 'killed')
    const now = end === 'killed' ? TEST_MASTER_PASSWORD : NEXT
    expect(await secrets(now)).toEqual(['never lost'])
    if (end !== 'killed') expect(await change(NEXT, TEST_MASTER_PASSWORD)).toBe(true)
  }
})

test('with a concurrent rotation, all keys open with one password', async () => {
  for (let i = 0; i < 20; i++) {
    const [from, to] = i % 2 === 0 ? [TEST_MASTER_PASSWORD, NEXT] : [NEXT, TEST_MASTER_PASSWORD]
    const ctx = { ...ours.installationAdmin, vault: await opened(from) }
    const rotation = rotateCredentialKey(ctx).catch(() => null)
    // The delay grows, so that each of the two comes first at times.
    for (let n = 0; n < i; n++) await t.runtime.db.execute(sql`select 1`)
    // It finds that all keys open with `from`, or fails.
    expect(await change(from, to)).toBe(true)
    await rotation
  }
  expect(await change(NEXT, TEST_MASTER_PASSWORD)).toBe(false)
  expect((await t.runtime.db.select().from(credentialKeys)).length).toBeGreaterThan(1)
})
