import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { updateCredential } from '../credentials/index.ts'
import { credentials } from '../credentials/tables.ts'
import { updateNode } from '../nodes/index.ts'
import { type ComputeNode, computeNodes } from '../nodes/tables.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { readControllerLogin } from './index.ts'

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())

let ours: TenantFixture
let node: ComputeNode
let bastionId: string
let credentialId: string
beforeEach(async () => {
  ours = await t.given.tenant()
  const bastion = await t.given.credential(ours.admin, 'BASTION')
  const credential = await t.given.credential(ours.admin, 'SSH_KEY')
  await t.runtime.db.update(credentials).set({ hostKey: HOST_KEY }).where(eq(credentials.id, bastion.id))
  ;[bastionId, credentialId] = [bastion.id, credential.id]
  const columns = { credentialId, bastionId, hostKey: HOST_KEY }
  node = (await t.given.fleet(ours.admin, { nodes: 1, with: columns }))[0] as ComputeNode
})

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'
const OTHER_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0V0eWtP1nOYzA8w9k9Jq8m3r8mN0J7g1G7m0rLwq2Z'
const read = () => readControllerLogin(ours.worker, { nodeId: node.id })

test('is equal until the login changes; texts of the node change nothing', async () => {
  const before = await read()
  expect(before).toEqual({ blockedReason: null, version: expect.stringMatching(/^[0-9a-f]{64}$/) })
  await updateNode(ours.admin, { id: node.id, notes: 'rack 3' })
  expect(await read()).toEqual(before)
})

test('differs after a change of the address, the account, the credential, the bastion or the host key', async () => {
  const versions = [(await read()).version]
  const changed = async (change: () => Promise<unknown>) => {
    await change()
    versions.push((await read()).version)
  }
  const set = (columns: Partial<typeof computeNodes.$inferInsert>) =>
    t.runtime.db.update(computeNodes).set(columns).where(eq(computeNodes.id, node.id))
  await changed(() => set({ port: 2222 }))
  await changed(() => set({ host: '10.9.9.9' }))
  await changed(() => set({ sshUser: 'other' }))
  await changed(() => set({ hostKey: OTHER_KEY }))
  await changed(() => updateCredential(ours.admin, { id: credentialId, username: 'root' }))
  await changed(async () => set({ credentialId: (await t.given.credential(ours.admin, 'SSH_KEY')).id }))
  await changed(() => set({ bastionId: null }))
  expect(new Set(versions).size).toBe(8)
})

test.each([
  ['the host key of the node', () => sql`update compute_nodes set host_key = null where id = ${node.id}`],
  ['the host key of the bastion', () => sql`update credentials set host_key = null where id = ${bastionId}`],
  ['the changed host key', () => sql`update compute_nodes set offered_host_key = ${OTHER_KEY} where id = ${node.id}`],
])('is blocked until %s is approved', async (_name, statement) => {
  await t.runtime.db.execute(statement())
  expect((await read()).blockedReason).toMatch(/approve/)
})

test('is blocked for a node of another tenant, and only workers may read it', async () => {
  const theirs = await t.given.tenant()
  expect(await readControllerLogin(theirs.worker, { nodeId: node.id })).toEqual({
    blockedReason: `There is no node ${node.id}.`,
    version: '',
  })
  await expect(readControllerLogin(ours.owner, { nodeId: node.id })).rejects.toMatchObject({ code: 'FORBIDDEN' })
})
