import { approveHostKeys, type ConnectionTest, connectionTestQueue, testConnections } from '@muster/core/connections'
import { createCredential } from '@muster/core/credentials'
import { type DiscoveryRow, discoverNodes, discoveryQueue } from '@muster/core/discoveries'
import { addNode, type ComputeNode } from '@muster/core/nodes'
import { createQueue } from '@muster/core/queue'
import { queues, schema } from '@muster/core/registry'
import { credentialRotationQueue } from '@muster/core/rotations'
import { LOOPBACK, testRuntime } from '@muster/core/testing'
import type { LabNode, OwnedLab } from '@muster/lab'
import { asc, eq, inArray } from 'drizzle-orm'
import { vi } from 'vitest'
import { connectionTestHandler } from '../handlers/connection-test.ts'
import { credentialRotationHandler } from '../handlers/credential-rotation.ts'
import { discoveryHandler } from '../handlers/discovery.ts'
import { createBastionPool } from '../ssh/bastion-pool.ts'
import { pinnedKey } from './node-access.ts'

const TIMEOUT_MS = 60_000

/** A database, a tenant with the lab's credentials, and a worker's queue with handlers that test and discover nodes. */
export async function createNodeFixture(lab: OwnedLab, config = { SSH_TIMEOUT: 5, LOCAL_TARGETS: LOOPBACK }) {
  const test = await testRuntime()
  const tenantFixture = await test.given.tenant()
  const { admin, operator } = tenantFixture
  const { db, log } = test.runtime
  const queue = await createQueue(test.url, log, 'worker', queues)
  const bastions = createBastionPool()
  const stopping = new AbortController()
  const deps = { runtime: test.runtime, config, workerId: 'test-worker', bastions, stopping: stopping.signal }
  await queue.work(connectionTestQueue, 32, connectionTestHandler(deps))
  await queue.work(discoveryQueue, 32, discoveryHandler(deps))
  await queue.work(credentialRotationQueue, 4, credentialRotationHandler(deps))

  const { sshKey, bastionKey } = lab.credentials
  const key = await createCredential(admin, {
    name: 'lab key',
    kind: 'SSH_KEY',
    username: sshKey.username,
    privateKey: sshKey.privateKey,
  })
  const bastion = lab.bastion
    ? await createCredential(admin, {
        name: 'lab bastion',
        kind: 'BASTION',
        host: lab.bastion.host,
        port: lab.bastion.port,
        username: bastionKey!.username,
        privateKey: bastionKey!.privateKey,
      })
    : null

  const add = (node: LabNode, fields: Partial<Parameters<typeof addNode>[1]> = {}) =>
    addNode(admin, {
      name: node.name,
      host: node.host,
      port: node.port,
      credentialId: key.id,
      bastionId: node.behindBastion ? bastion!.id : null,
      ...fields,
    })
  const rowOf = async (id: string): Promise<ComputeNode> =>
    (await db.select().from(schema.computeNodes).where(eq(schema.computeNodes.id, id)))[0]!
  /** Tests the connections of these nodes. @returns the finished tests */
  const testAll = async (nodeIds: string[]): Promise<ConnectionTest[]> => {
    const ids = (await testConnections(operator, { nodeIds })).map((row) => row.id)
    return vi.waitFor(async () => {
      const rows = await db.select().from(schema.connectionTests).where(inArray(schema.connectionTests.id, ids))
      if (!rows.every((row) => row.finishedAt)) throw new Error('the connection tests are not finished')
      return rows
    }, TIMEOUT_MS)
  }
  /** The newest discovery of each node, once all are finished. */
  const discovered = (nodeIds: string[]): Promise<DiscoveryRow[]> =>
    vi.waitFor(async () => {
      const rows = await db
        .select()
        .from(schema.discoveries)
        .where(inArray(schema.discoveries.nodeId, nodeIds))
        .orderBy(asc(schema.discoveries.id))
      const newest = nodeIds.map((id) => rows.findLast((row) => row.nodeId === id)!)
      if (!newest.every((row) => row?.finishedAt)) throw new Error('the discoveries are not finished')
      return newest
    }, TIMEOUT_MS)
  return {
    ...test,
    ...tenantFixture,
    bastion,
    key,
    bastions,
    stopping,
    add,
    rowOf,
    testAll,
    discovered,
    /** Adds a node with a pinned host key. */
    addKnown: (node: LabNode, fields: Partial<Parameters<typeof addNode>[1]> = {}) =>
      add(node, { hostKey: pinnedKey(node), ...fields }),
    approve: (objectType: 'ComputeNode' | 'Credential', id: string, fingerprint: string) =>
      approveHostKeys(admin, { approvals: [{ objectType, id, fingerprint }] }),
    async discoverAll(nodeIds: string[]) {
      await discoverNodes(operator, { nodeIds })
      return discovered(nodeIds)
    },
    async close() {
      stopping.abort(new Error('the test is over'))
      await queue.close(1000)
      bastions.close()
      await test.close()
    },
  }
}
