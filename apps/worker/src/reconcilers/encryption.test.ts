import { credentials, openVault } from '@muster/core/credentials'
import { fastDeriveKey, TEST_MASTER_PASSWORD, testRuntime } from '@muster/core/testing'
import { eq } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { reconcileEncryption } from './encryption.ts'

it('re-encrypts records of an older key version when a worker starts with a newer one', async () => {
  const test = await testRuntime()
  const { admin } = await test.given.tenant()
  const { id, encrypted } = await test.given.credential(admin, 'SSH_PASSWORD')
  const now = async () => (await test.runtime.db.select().from(credentials).where(eq(credentials.id, id)))[0]!.encrypted
  const versionOf = (record: string | undefined) => Buffer.from(record!, 'base64')[0]
  expect(versionOf(encrypted.password)).toBe(1)
  const vault = await openVault(test.runtime.db, TEST_MASTER_PASSWORD, 2, fastDeriveKey)
  const newer = reconcileEncryption({ ...test.runtime, vault }, 'w')
  await expect.poll(async () => versionOf((await now()).password)).toBe(2)
  await newer.stop()
  // A worker that still has the old version does not touch newer records.
  await reconcileEncryption(test.runtime, 'old').stop()
  expect(versionOf((await now()).password)).toBe(2)
  await test.close()
})
