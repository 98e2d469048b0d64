import { and, eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditEntries } from '../audit/index.ts'
import { claimCredentialRotation, rotateCredential } from '../rotations/index.ts'
import { credentialRotationHosts } from '../rotations/tables.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { decryptRotationSecrets, resolveNodeAccess } from './access.ts'

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t?.close())

test('a decryption leaves one row per run and credential, committed before the secret is opened', async () => {
  const { operator, admin, worker } = await t.given.tenant()
  const credential = await t.given.credential(admin, 'SSH_PASSWORD')
  const nodes = await t.given.fleet(operator, { nodes: 20, with: { credentialId: credential.id } })
  const runId = nodes[0]!.id
  const decryptions = () => t.runtime.db.select().from(auditEntries).where(eq(auditEntries.action, 'credential.decrypt'))
  let rowsAtOpen = -1
  const vault: typeof t.runtime.vault = {
    ...t.runtime.vault,
    async open(...args) {
      if (rowsAtOpen < 0) rowsAtOpen = (await decryptions()).length
      return t.runtime.vault.open(...args)
    },
  }
  await resolveNodeAccess(
    { ...worker, vault, runId },
    nodes.map(({ id }) => id),
  )
  expect(rowsAtOpen).toBe(1)
  expect(await decryptions()).toMatchObject([
    {
      objectId: credential.id,
      objectName: credential.name,
      actorKind: 'worker',
      channel: 'worker',
      runId,
      details: { nodes: 20 },
    },
  ])
})

test('nothing is decrypted when the row cannot be written', async () => {
  const { operator, admin, worker } = await t.given.tenant()
  const credential = await t.given.credential(admin, 'SSH_PASSWORD')
  const [node] = await t.given.fleet(operator, { with: { credentialId: credential.id } })
  const db = new Proxy(worker.db, {
    get: (target, name) =>
      name === 'transaction' ? () => Promise.reject(new Error('no row')) : Reflect.get(target, name, target),
  })
  const vault = { ...t.runtime.vault, open: () => expect.unreachable('a secret was decrypted') }
  await expect(resolveNodeAccess({ ...worker, db, vault }, [node!.id])).rejects.toThrow('no row')
})

test('the secrets of a rotation are opened after a committed row for the credential', async () => {
  const { operator, admin, worker } = await t.given.tenant()
  const credential = await t.given.credential(admin, 'SSH_PASSWORD')
  const other = await t.given.credential(admin, 'SSH_PASSWORD')
  const [node] = await t.given.fleet(operator, { with: { credentialId: credential.id } })
  const { id } = await rotateCredential(admin, { id: credential.id })
  const rotation = (await claimCredentialRotation(worker, { id, token: 'a' }))!
  const recorded = () =>
    t.runtime.db
      .select()
      .from(auditEntries)
      .where(and(eq(auditEntries.action, 'credential.decrypt'), eq(auditEntries.objectId, credential.id)))
  const rowsAtOpen: number[] = []
  const vault: typeof t.runtime.vault = {
    ...t.runtime.vault,
    async open(...args) {
      if ([id, credential.id].includes(args[0].objectId)) rowsAtOpen.push((await recorded()).length)
      return t.runtime.vault.open(...args)
    },
  }
  await decryptRotationSecrets({ ...worker, vault }, rotation)
  expect(rowsAtOpen).toEqual([1, 1])
  expect(await recorded()).toMatchObject([{ objectName: credential.name, actorKind: 'worker', details: { rotation: id } }])

  await t.runtime.db.update(credentialRotationHosts).set({ installedAt: new Date() })
  await resolveNodeAccess({ ...worker, vault }, [node!.id])
  expect(rowsAtOpen).toEqual([1, 1, 2])
  // With another credential, the new password is not opened.
  await resolveNodeAccess({ ...worker, vault }, [node!.id], { instead: other.id })
  expect(rowsAtOpen).toEqual([1, 1, 2])
})
