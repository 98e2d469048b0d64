import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fastDeriveKey, TEST_MASTER_PASSWORD } from '../testing/master-password.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { openVault } from './open-vault.ts'
import { credentialKeys } from './tables.ts'

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime({ vault: 'real' })
})
afterAll(() => t.close())

const CONTEXT = { tenantId: 'a', objectId: 'b', field: 'password' }

test('another process with the same password decrypts the records', async () => {
  const record = await t.runtime.vault.encrypt(CONTEXT, 'secret')
  const other = await openVault(t.runtime.db, TEST_MASTER_PASSWORD, 1)
  expect(await other.open(CONTEXT, record)).toBe('secret')
})

test('rejects a wrong master password at the start', async () => {
  await expect(openVault(t.runtime.db, 'another password', 1)).rejects.toThrow(/master password is incorrect/)
})

test('rejects a wrong master password for a new key version, and creates no key', async () => {
  await expect(openVault(t.runtime.db, 'another password', 7, fastDeriveKey)).rejects.toThrow(/master password is incorrect/)
  expect((await t.runtime.db.select().from(credentialKeys)).map((row) => row.version)).toEqual([1])
})

test('every process encrypts with the newest version immediately, and decrypts all', async () => {
  const old = await openVault(t.runtime.db, TEST_MASTER_PASSWORD, 1)
  const one = await old.encrypt(CONTEXT, 'first')
  const fresh = await openVault(t.runtime.db, TEST_MASTER_PASSWORD, 2)
  const two = await old.encrypt(CONTEXT, 'second')
  const late = await openVault(t.runtime.db, TEST_MASTER_PASSWORD, 1)
  expect([one, two, await late.encrypt(CONTEXT, 'third')].map((record) => Buffer.from(record, 'base64')[0])).toEqual([1, 2, 2])
  expect(await Promise.all([old.open(CONTEXT, two), fresh.open(CONTEXT, one)])).toEqual(['second', 'first'])
  await expect(old.open(CONTEXT, Buffer.from([9, ...Buffer.from(one, 'base64').subarray(1)]).toString('base64'))).rejects.toThrow(
    /key version 9, which this database does not have/,
  )
})

test('derives a key once for any number of records', async () => {
  await t.runtime.db.delete(credentialKeys)
  let count = 0
  const derive: typeof fastDeriveKey = (password, salt) => {
    count++
    return fastDeriveKey(password, salt)
  }
  const sealing = await openVault(t.runtime.db, 'pw', 3, derive)
  const records = await Promise.all(Array.from({ length: 100 }, (_, i) => sealing.encrypt(CONTEXT, String(i))))
  await openVault(t.runtime.db, 'pw', 4, derive)
  const opening = await openVault(t.runtime.db, 'pw', 4, derive)
  count = 0
  const texts = await Promise.all(records.map((record) => opening.open(CONTEXT, record)))
  expect(texts).toEqual(records.map((_, i) => String(i)))
  expect(count).toBe(1)
})

test('processes that open a new vault concurrently agree on one key', async () => {
  await t.runtime.db.delete(credentialKeys)
  // Each process derives at its own pace, so that all find no row before the first one writes it.
  const derive = async (password: string, salt: Buffer) => createHash('sha256').update(password).update(salt).digest()
  const vaults = await Promise.all(Array.from({ length: 5 }, () => openVault(t.runtime.db, 'pw', 1, derive)))
  expect(await t.runtime.db.select().from(credentialKeys)).toHaveLength(1)
  for (const sealing of vaults)
    for (const opening of vaults) expect(await opening.open(CONTEXT, await sealing.encrypt(CONTEXT, 'x'))).toBe('x')
})
