import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestRuntime, testRuntime } from '../testing/index.ts'
import { addNode, testConnections } from './index.ts'

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())

describe('addNode', () => {
  test('adds a node that is NEW', async () => {
    const { operator } = await t.given.tenant()
    const credential = await t.given.credential((await t.given.tenant()).admin, 'SSH_KEY')
    expect(credential.publicKey).toMatch(/^ssh-ed25519 /)
    const node = await addNode(operator, { name: 'gpu1', host: 'GPU1.example.com' })
    expect(node).toMatchObject({ name: 'gpu1', host: 'gpu1.example.com', port: 22, status: 'NEW' })
    const [first] = await testConnections(operator, { nodeIds: [node.id] })
    expect(first?.nodeId).toBe(node.id)
  })
})
