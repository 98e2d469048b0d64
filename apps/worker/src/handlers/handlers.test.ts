import { gunzipSync } from 'node:zlib'
import { type ConnectionTest, testCredential } from '@muster/core/connections'
import { createCredential, createSecretStore } from '@muster/core/credentials'
import { addNode } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import { makeHostKey } from '@muster/core/testing'
import type { OwnedLab } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { count, eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pinnedKey } from '../testing/node-access.ts'
import { createNodeFixture } from '../testing/node-fixture.ts'
import { startOpenBao } from '../testing/openbao.ts'

let lab: OwnedLab
let fixture: Awaited<ReturnType<typeof createNodeFixture>>

beforeAll(async () => {
  lab = await createLab({
    nodes: [
      { name: 'h100', profile: 'h100x8' },
      { name: 'mig', profile: 'h100x8-mig' },
      { name: 'mi300x', profile: 'mi300x8' },
      { name: 'max1550', profile: 'max1550x4' },
      { name: 'ascend', profile: 'ascend910b3x8', behindBastion: true },
      { name: 'ppu', profile: 'ppuzw810ex16', behindBastion: true },
      { name: 'plain', profile: 'cpu' },
      { name: 'mismatch', profile: 'nvidia-mismatch' },
      { name: 'hung', profile: 'hung-tool' },
      { name: 'flood', profile: 'flood-tool' },
      { name: 'victim', profile: 'cpu' },
    ],
  })
  fixture = await createNodeFixture(lab)
})
afterAll(() => fixture.close())

const stagesOf = (test: ConnectionTest) => test.stages.map((s) => `${s.hop ? `${s.hop} ` : ''}${s.stage} ${s.state}`)

async function acceleratorsOf(nodeId: string): Promise<Record<string, number>> {
  const rows = await fixture.runtime.db
    .select({ type: schema.accelerators.deviceType, n: count() })
    .from(schema.accelerators)
    .where(eq(schema.accelerators.nodeId, nodeId))
    .groupBy(schema.accelerators.deviceType)
  return Object.fromEntries(rows.map((row) => [row.type, row.n]))
}

describe('onboarding', () => {
  it('offers host keys, pins approved keys, makes nodes READY and finds every accelerator', async () => {
    const names = ['h100', 'mig', 'mi300x', 'max1550', 'ascend', 'ppu', 'plain']
    const nodes = await Promise.all(names.map((name) => fixture.add(lab.node(name))))
    const ids = nodes.map((node) => node.id)

    // First the bastion's key is not approved, then the keys of the nodes.
    for (const test of await fixture.testAll(ids)) {
      expect(test.isOk).toBe(false)
      expect(test.stages.at(-1)).toMatchObject({ stage: 'HOST_KEY', state: 'FAILED' })
    }
    for (const [i, node] of nodes.entries()) {
      const row = await fixture.rowOf(node.id)
      expect(row.status).toBe('NEW')
      if (!lab.node(names[i]!).behindBastion)
        await fixture.approve('ComputeNode', node.id, lab.node(names[i]!).hostKeyFingerprint)
    }
    await fixture.approve('Credential', fixture.bastion!.id, lab.bastion!.hostKeyFingerprint)
    const second = await fixture.testAll(ids)
    expect(second.filter((test) => test.isOk)).toHaveLength(5)
    for (const name of ['ascend', 'ppu'])
      await fixture.approve('ComputeNode', ids[names.indexOf(name)]!, lab.node(name).hostKeyFingerprint)
    const third = await fixture.testAll(ids)
    expect(third.map((test) => test.error)).toEqual(ids.map(() => null))
    expect(stagesOf(third.find((test) => test.nodeId === ids[0])!)).toEqual(
      ['RESOLVE', 'TCP', 'BANNER', 'HOST_KEY', 'AUTHENTICATION', 'SHELL', 'SUDO', 'PYTHON', 'ANSIBLE'].map((s) => `${s} OK`),
    )
    expect(stagesOf(third.find((test) => test.nodeId === ids[4])!).slice(0, 7)).toEqual([
      'lab bastion RESOLVE OK',
      'lab bastion TCP OK',
      'lab bastion BANNER OK',
      'lab bastion HOST_KEY OK',
      'lab bastion AUTHENTICATION OK',
      'RESOLVE SKIPPED',
      'TCP OK',
    ])

    // A READY node is discovered automatically.
    for (const row of await fixture.discovered(ids)) expect(row).toMatchObject({ error: null, reason: 'onboarding' })
    for (const [i, id] of ids.entries()) {
      expect(await acceleratorsOf(id)).toEqual(lab.node(names[i]!).accelerators)
      expect(await fixture.rowOf(id)).toMatchObject({ status: 'READY', bootId: await lab.node(names[i]!).bootId() })
    }
    const mig = await fixture.runtime.db.select().from(schema.accelerators).where(eq(schema.accelerators.nodeId, ids[1]!))
    expect(mig.some((device) => device.partitions.length > 0)).toBe(true)
  })
})

describe('testCredential', () => {
  it('uses the credential instead of that of the node, and does not change the node', async () => {
    const node = await fixture.addKnown(lab.node('plain'), { name: 'tried' })
    const before = await fixture.rowOf(node.id)
    const wrong = await fixture.given.credential(fixture.admin, 'SSH_KEY', { username: 'ops' })
    expect(await tried(wrong.id, node.id)).toMatch(/rejects this ssh-ed25519 key of ops/)
    expect(await tried(fixture.key.id, node.id)).toBeNull()
    expect(await fixture.rowOf(node.id)).toEqual(before)
  })

  it.skipIf(!process.env.OPENBAO)('reads the secrets of the credential from its secret store', async () => {
    const node = await fixture.addKnown(lab.node('plain'), { name: 'tried-from-a-store' })
    const bao = await startOpenBao()
    try {
      const store = { name: 'bao', address: bao.address, auth: 'TOKEN' as const, secret: bao.rootToken }
      const { id: secretStoreId } = await createSecretStore(fixture.admin, store)
      const { username, privateKey } = lab.credentials.sshKey
      const stored = await createCredential(fixture.admin, {
        name: 'in a store',
        kind: 'SSH_KEY',
        username,
        secretStoreId,
        secretRefs: { privateKey: { path: 'nodes/plain', key: 'key' } },
      })
      expect(await tried(stored.id, node.id)).toContain(
        `The secret store bao (${bao.address}) has no secret at secret/nodes/plain`,
      )
      await bao.write('secret/data/nodes/plain', { data: { key: privateKey } })
      expect(await tried(stored.id, node.id)).toBeNull()
    } finally {
      await bao.stop()
    }
  })

  /** The error of the test; null when it passed. */
  async function tried(id: string, nodeId: string): Promise<string | null> {
    const { id: testId } = await testCredential(fixture.admin, { id, nodeId })
    const isTest = eq(schema.connectionTests.id, testId)
    const test = async () => (await fixture.runtime.db.select().from(schema.connectionTests).where(isTest))[0]!
    await expect.poll(async () => (await test()).finishedAt).not.toBeNull()
    const [row] = await fixture.runtime.db.select().from(schema.credentials).where(eq(schema.credentials.id, id))
    return row!.lastResultError
  }
})

describe('discovery', () => {
  it('reports tools that mismatch, hang or flood, and stores their output', async () => {
    const nodes = await Promise.all(['mismatch', 'hung', 'flood'].map((name) => fixture.addKnown(lab.node(name))))
    const [mismatch, hung, flood] = await fixture.discoverAll(nodes.map((node) => node.id))
    const tool = (row: typeof mismatch) => row!.result!.tools.find((t) => t.tool === 'nvidia-smi')
    expect(tool(mismatch)).toMatchObject({ state: 'FAILED' })
    expect(tool(hung)).toMatchObject({ state: 'TIMED_OUT' })
    expect(flood!.error).toBeNull()
    // The PCI list contains the devices that the tool does not list.
    expect(await acceleratorsOf(nodes[0]!.id)).toEqual({ nvidia_gpu: 8 })
    expect(await acceleratorsOf(nodes[1]!.id)).toEqual({ nvidia_gpu: 8 })
    const [evidence] = await fixture.runtime.db
      .select()
      .from(schema.discoveryEvidence)
      .where(eq(schema.discoveryEvidence.discoveryId, mismatch!.id))
    expect(gunzipSync(evidence!.gzip).toString()).toContain('Driver/library version mismatch')
  })

  it('reports unreachable nodes, and a host key that changed after the test', async () => {
    const gone = await fixture.addKnown(lab.node('victim'), { name: 'gone', port: 9 })
    const victim = await fixture.addKnown(lab.node('victim'))
    expect((await fixture.testAll([victim.id]))[0]!.isOk).toBe(true)
    await fixture.discovered([victim.id])
    await lab.fault('victim', 'changed-host-key')
    const [unreachable, changed] = await fixture.discoverAll([gone.id, victim.id])
    expect(unreachable).toMatchObject({ status: 'FAILED', error: expect.stringContaining('refuses connections') })
    expect(await fixture.rowOf(gone.id)).toMatchObject({ status: 'UNREACHABLE', unreachableReason: unreachable!.error })
    expect(changed!.error).toMatch(/host key has changed/)
    const alarmed = await fixture.rowOf(victim.id)
    expect(alarmed).toMatchObject({ status: 'UNREACHABLE', hostKey: victim.hostKey })
    expect(alarmed.offeredHostKey).not.toBeNull()
    // The alarm ends when the node offers the approved key.
    await lab.heal('victim')
    await lab.ready('victim')
    expect((await fixture.testAll([victim.id]))[0]).toMatchObject({ isOk: true, error: null })
    expect(await fixture.rowOf(victim.id)).toMatchObject({ status: 'READY', offeredHostKey: null })
  })

  it('changes no fact when the shell does not run the probe', async () => {
    const node = await fixture.addKnown(lab.node('plain'), { name: 'mute' })
    expect((await fixture.discoverAll([node.id]))[0]).toMatchObject({ error: null })
    const before = await fixture.rowOf(node.id)
    await lab.node('plain').exec(['usermod', '-s', '/usr/sbin/nologin', 'ops'])
    const [row] = await fixture.discoverAll([node.id])
    await lab.node('plain').exec(['usermod', '-s', '/bin/bash', 'ops'])
    expect(row).toMatchObject({
      result: null,
      error: expect.stringContaining('did not run the probe but printed "This account is'),
    })
    expect(await fixture.rowOf(node.id)).toMatchObject({ kernel: before.kernel, bootId: before.bootId, status: before.status })
  })

  it('completes when a tool prints endlessly', async () => {
    const node = await fixture.addKnown(lab.node('h100'), { name: 'endless' })
    await lab.fault('h100', 'endless-output')
    const [row] = await fixture.discoverAll([node.id])
    await lab.heal('h100')
    expect(row!.result!.tools.find((t) => t.tool === 'nvidia-smi')!.state).not.toBe('OK')
    expect(await acceleratorsOf(node.id)).toEqual({ nvidia_gpu: 8 })
  })

  it('does not sign in to a node without an approved key', async () => {
    const node = await fixture.add(lab.node('plain'), { name: 'unapproved' })
    await expect(fixture.discoverAll([node.id])).rejects.toThrow(/not approved/)
  })
})

describe('a bastion with a changed key', () => {
  it('blocks connections until it offers the approved key, which ends the alarm even when the test fails', async () => {
    const bastion = eq(schema.credentials.id, fixture.bastion!.id)
    const hostKey = pinnedKey(lab.bastion!)
    await fixture.runtime.db.update(schema.credentials).set({ hostKey, offeredHostKey: makeHostKey() }).where(bastion)
    const node = await fixture.addKnown(lab.node('ascend'), { name: 'behind' })
    const gone = await fixture.addKnown(lab.node('ascend'), { name: 'gone-behind', port: 9 })
    expect((await fixture.discoverAll([node.id]))[0]).toMatchObject({
      status: 'FAILED',
      error: 'The bastion lab bastion offers another host key than the approved one; approve the new key first.',
    })
    expect((await fixture.testAll([gone.id]))[0]).toMatchObject({ isOk: false })
    expect((await fixture.runtime.db.select().from(schema.credentials).where(bastion))[0]).toMatchObject({
      hostKey,
      offeredHostKey: null,
    })
    expect((await fixture.discoverAll([node.id]))[0]).toMatchObject({ error: null })
  })
})

describe('a connection test', () => {
  it('passes a node without Python or sudo and reports the failed stages', async () => {
    const plain = await createCredential(fixture.admin, {
      name: 'plain password',
      kind: 'SSH_PASSWORD',
      username: lab.credentials.plainPassword!.username,
      password: lab.credentials.plainPassword!.password,
    })
    const node = await fixture.addKnown(lab.node('plain'), { name: 'bare', credentialId: plain.id })
    await lab.fault('plain', 'no-python')
    const [test] = await fixture.testAll([node.id])
    await lab.heal('plain')
    expect(test).toMatchObject({ isOk: true, error: null })
    expect(stagesOf(test!).slice(5)).toEqual(['SHELL OK', 'SUDO FAILED', 'PYTHON FAILED', 'ANSIBLE SKIPPED'])
    expect(await fixture.rowOf(node.id)).toMatchObject({ status: 'READY' })
  })

  it('tests this machine for connection type local', async () => {
    const here = await addNode(fixture.admin, { name: 'here', host: 'localhost', connectionType: 'local' })
    const [test] = await fixture.testAll([here.id])
    expect(test).toMatchObject({ isOk: true })
    expect(stagesOf(test!).slice(0, 6)).toEqual([
      'RESOLVE SKIPPED',
      'TCP SKIPPED',
      'BANNER SKIPPED',
      'HOST_KEY SKIPPED',
      'AUTHENTICATION SKIPPED',
      'SHELL OK',
    ])
    expect((await fixture.discovered([here.id]))[0]).toMatchObject({ error: null })
    expect((await fixture.rowOf(here.id)).kernel).not.toBeNull()
  })

  it('fails when the node has no credential', async () => {
    const node = await fixture.addKnown(lab.node('plain'), { name: 'nobody', credentialId: null })
    const [test] = await fixture.testAll([node.id])
    expect(test).toMatchObject({ isOk: false, error: expect.stringContaining('has no credential') })
  })
})
