import { credentials, openVault } from '@muster/core/credentials'
import { eventually, quickDerive, TEST_MASTER_PASSWORD, testRuntime } from '@muster/core/testing'
import { eq } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { reconcileSeals } from './reseal.ts'

it('seals anew what an older key version sealed, when a worker starts with a newer one', async () => {
  const test = await testRuntime()
  const { admin } = await test.given.tenant()
  const { id, sealed } = await test.given.credential(admin, 'SSH_PASSWORD')
  const now = async () => (await test.runtime.db.select().from(credentials).where(eq(credentials.id, id)))[0]!.sealed
  const versionOf = (record: string | undefined) => Buffer.from(record!, 'base64')[0]
  expect(versionOf(sealed.password)).toBe(1)
  const vault = await openVault(test.runtime.db, TEST_MASTER_PASSWORD, 2, quickDerive)
  const newer = reconcileSeals({ ...test.runtime, vault }, 'w')
  await eventually(async () => versionOf((await now()).password) === 2)
  await newer.stop()
  // A worker that still has the old version leaves the newer one alone.
  await reconcileSeals(test.runtime, 'old').stop()
  expect(versionOf((await now()).password)).toBe(2)
  await test.close()
})
