import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditEntries } from '../audit/index.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { resolveNodeAccess } from './access.ts'

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
