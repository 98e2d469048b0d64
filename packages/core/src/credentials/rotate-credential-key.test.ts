import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditEntries } from '../audit/tables.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { race } from '../testing/race.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { FAULT_TIMEOUT, scaleIterations } from '../testing/scale-iterations.ts'
import { credentialKey } from './credential-key.ts'
import { reencryptCredentials } from './reencrypt-credentials.ts'
import { rotateCredentialKey } from './rotate-credential-key.ts'
import { type Credential, credentials } from './tables.ts'
import { updateCredential } from './update-credential.ts'

/** The process is killed at each row. */
const ROWS = Math.max(2, scaleIterations(100))
const CHILD = fileURLToPath(new URL('../testing/reencrypt-until.ts', import.meta.url))

let t: TestRuntime
let ours: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
})
afterAll(() => t.close())

const passwordOf = async (row: Credential) => {
  const [now] = await t.runtime.db.select().from(credentials).where(eq(credentials.id, row.id))
  return t.runtime.vault.open({ tenantId: row.tenantId, objectId: row.id, field: 'password' }, now!.encrypted.password!)
}

test('a rotation that is killed at every row keeps all secrets readable, and completes', { timeout: FAULT_TIMEOUT }, async () => {
  const rows: Credential[] = []
  for (let i = 0; i < ROWS; i++) rows.push(await t.given.credential(ours.admin, 'SSH_PASSWORD', { password: `secret ${i}` }))
  expect(await credentialKey(ours.viewer)).toMatchObject({ version: 1, total: ROWS, left: 0, failed: [], olderInUse: [] })
  expect(await rotateCredentialKey(ours.installationAdmin)).toMatchObject({
    version: 2,
    total: ROWS,
    left: ROWS,
    olderInUse: [1],
  })
  expect(t.changeEvents.at(-1)).toMatchObject({ topic: 'credentialKey', id: '2' })
  const isRotation = eq(auditEntries.action, 'credential.rotate_key')
  // The key encrypts the secrets of all tenants, so the row is in the chain of the installation.
  expect(await t.runtime.db.select().from(auditEntries).where(isRotation)).toMatchObject([{ tenantId: null }])
  await expect(rotateCredentialKey(ours.installationAdmin)).rejects.toThrow(/in progress: \d+ records left/)

  const run = (killAt: number) =>
    promisify(execFile)(process.execPath, [CHILD, t.url, String(killAt)]).then(
      ({ stdout }) => stdout.trim(),
      (error: { signal: string }) => error.signal,
    )
  // Killed at the first row, then at the second remaining row: each time one more row is done.
  expect(await run(1)).toBe('SIGKILL')
  for (let done = 0; done < ROWS; done++) {
    expect(await credentialKey(ours.viewer)).toMatchObject({ left: ROWS - done, olderInUse: [1] })
    for (const [i, row] of rows.entries()) expect(await passwordOf(row)).toBe(`secret ${i}`)
    expect(await run(2)).toBe(done === ROWS - 1 ? 'done' : 'SIGKILL')
  }
  for (const [i, row] of rows.entries()) expect(await passwordOf(row)).toBe(`secret ${i}`)
  expect(await credentialKey(ours.viewer)).toMatchObject({ version: 2, total: ROWS, left: 0, failed: [], olderInUse: [] })
})

test('names records that cannot be decrypted, skips them, and clears them when their secrets are saved again', async () => {
  const { admin, installationAdmin, viewer, worker } = await t.given.tenant()
  const good = await t.given.credential(admin, 'SSH_PASSWORD')
  const broken = await t.given.credential(admin, 'SSH_PASSWORD', { name: 'broken' })
  await t.runtime.db.update(credentials).set({ encrypted: good.encrypted }).where(eq(credentials.id, broken.id))
  const { version } = await rotateCredentialKey(installationAdmin)
  await reencryptCredentials({ ...t.runtime, actor: worker.actor })
  const failed = [{ what: 'credential', id: broken.id, name: 'broken', reason: expect.stringContaining('cannot be decrypted') }]
  expect(await credentialKey(viewer)).toMatchObject({ version, total: 2, left: 0, failed, olderInUse: [version - 1] })
  expect(await credentialKey(ours.viewer)).toMatchObject({ failed: [] })
  await updateCredential(admin, { id: broken.id, password: 'once more' })
  expect(await credentialKey(viewer)).toMatchObject({ left: 0, failed: [], olderInUse: [] })
})

test('is rejected while records of another tenant have an older key, also from a tenant without secrets', async () => {
  const { admin, worker, viewer } = await t.given.tenant()
  const empty = await t.given.tenant()
  await t.given.credential(admin, 'SSH_PASSWORD')
  const { version } = await rotateCredentialKey(empty.installationAdmin)
  const { left } = await credentialKey(empty.viewer)
  expect(left).toBeGreaterThan(0)
  expect(await credentialKey(viewer)).toMatchObject({ version, total: 1, left })
  await expect(rotateCredentialKey(empty.installationAdmin)).rejects.toThrow(`${left} records left`)
  await reencryptCredentials({ ...t.runtime, actor: worker.actor })
  expect(await credentialKey(empty.viewer)).toMatchObject({ version, total: 0, left: 0 })
})

test('only one of two concurrent rotations succeeds; owners of a tenant are rejected', async () => {
  const { owner, admin, installationAdmin } = await t.given.tenant()
  await t.given.credential(admin, 'SSH_PASSWORD')
  const { version } = await credentialKey(owner)
  const { won, lost } = await race(rotateCredentialKey(installationAdmin), rotateCredentialKey(installationAdmin))
  expect(won).toMatchObject([{ version: version + 1 }])
  expect(lost).toMatchObject([{ code: 'CONFLICT' }])
  await expect(rotateCredentialKey(owner)).rejects.toMatchObject({ code: 'FORBIDDEN' })
})
