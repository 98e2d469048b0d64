import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SystemCtx } from '../kernel/context.ts'
import { fastDeriveKey, TEST_MASTER_PASSWORD } from '../testing/master-password.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { recordVersion } from './encryption.ts'
import { openVault } from './open-vault.ts'
import { reencryptCredentials } from './reencrypt-credentials.ts'
import { type Credential, credentials } from './tables.ts'
import { updateCredential } from './update-credential.ts'

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())

const now = async ({ id }: Credential) => (await t.runtime.db.select().from(credentials).where(eq(credentials.id, id)))[0]!

test('a rotation re-encrypts all secrets of all tenants once, and they stay readable', async () => {
  const [one, two] = [await t.given.tenant(), await t.given.tenant()]
  const password = await t.given.credential(one.admin, 'SSH_PASSWORD', { password: 'first' })
  const key = await t.given.credential(two.admin, 'SSH_KEY')
  const vault = await openVault(t.runtime.db, TEST_MASTER_PASSWORD, 2, fastDeriveKey)
  const worker: SystemCtx = { ...t.runtime, actor: one.worker.actor, vault }

  const broken = await t.given.credential(one.admin, 'BECOME')
  await t.runtime.db.update(credentials).set({ encrypted: password.encrypted }).where(eq(credentials.id, broken.id))

  expect(await reencryptCredentials(worker)).toBe(2)
  expect(await reencryptCredentials(worker)).toBe(0)
  for (const row of [password, key]) {
    const { encrypted } = await now(row)
    expect(Object.values(encrypted).map(recordVersion)).toEqual([2])
  }
  const record = (await now(password)).encrypted.password!
  expect(await t.runtime.vault.open({ tenantId: password.tenantId, objectId: password.id, field: 'password' }, record)).toBe(
    'first',
  )
  expect((await now(broken)).encrypted).toEqual(password.encrypted)
})

test('does not overwrite a concurrent change', async () => {
  const { admin, worker } = await t.given.tenant()
  const row = await t.given.credential(admin, 'SSH_PASSWORD', { password: 'older' })
  const vault = await openVault(t.runtime.db, TEST_MASTER_PASSWORD, 3, fastDeriveKey)
  // The secret is replaced between the read and the write.
  const slow = {
    ...vault,
    open: async (...args: Parameters<typeof vault.open>) => {
      const text = await vault.open(...args)
      if (args[0].objectId === row.id) await updateCredential(admin, { id: row.id, password: 'newer' })
      return text
    },
  }
  await reencryptCredentials({ ...worker, vault: slow })
  expect(
    await vault.open({ tenantId: row.tenantId, objectId: row.id, field: 'password' }, (await now(row)).encrypted.password!),
  ).toBe('newer')
})

test('rejects callers other than workers', async () => {
  const { owner, system } = await t.given.tenant()
  for (const ctx of [owner, system]) await expect(reencryptCredentials(ctx)).rejects.toMatchObject({ code: 'FORBIDDEN' })
})
