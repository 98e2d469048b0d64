import { gunzipSync } from 'node:zlib'
import { createCredential } from '@muster/core/credentials'
import { schema } from '@muster/core/registry'
import { rotateCredential } from '@muster/core/rotations'
import { isLong, LOOPBACK, makeKeyPair } from '@muster/core/testing'
import { PROBE_OUTPUT_LIMIT_BYTES } from '@muster/discovery'
import type { OwnedLab } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MALICIOUS_SERVERS, startMaliciousServers } from './testing/malicious/servers.ts'
import { addMaliciousAccounts, type MaliciousShell } from './testing/malicious/shells.ts'
import { createNodeFixture } from './testing/node-fixture.ts'
import { watchMemory } from './testing/watch-memory.ts'

const TIMEOUT_S = isLong ? 10 : 2
const MAX_GROWTH = 256 * 1024 ** 2
/** Nodes that are discovered with `npm test`; the probes of some others take half a minute. */
const QUICK = ['good', 'stdout', 'line', 'escapes', 'facts', 'endless greeting']
/** They accept every secret, so a rotation succeeds. */
const ACCEPTING = ['no session', 'single bytes']

/** Error of a connection test by shell; null: the shell appears to work. */
const SHELLS: Partial<Record<MaliciousShell, RegExp | null>> = {
  stdout: /prints without end: "flood flood/,
  stderr: /prints without end/,
  line: /prints without end/,
  lines: /prints without end/,
  silent: /ran no command within/,
  open: /ran no command within/,
  escapes: /exit code 3, output " ?\[2J/,
  marks: null,
  facts: /prints without end/,
}
const SERVERS: Record<string, RegExp> = {
  'endless greeting': /This is not an SSH server: it sent "xxx/,
  'dripping greeting': /This is not an SSH server: it sent "hello"/,
  'unfinished handshake': /sent nothing more|closed it without/,
  'endless handshake': /./,
  'endless prompts': /sent nothing more/,
  'silent sign-in': /sent nothing more/,
  'no session': /ran no command within/,
  'single bytes': /prints without end|ran no command within/,
}

let lab: OwnedLab
let servers: Awaited<ReturnType<typeof startMaliciousServers>>
let fixture: Awaited<ReturnType<typeof createNodeFixture>>
/** Nodes by the name of what is wrong with them; `good` is a regular node. */
const nodes = new Map<string, string>()

beforeAll(async () => {
  const names = ['good', 'evil'].map((name) => ({ name, profile: 'cpu' as const }))
  ;[lab, servers] = await Promise.all([createLab({ nodes: names }), startMaliciousServers()])
  fixture = await createNodeFixture(lab, { SSH_TIMEOUT: TIMEOUT_S, LOCAL_TARGETS: LOOPBACK })
  const { privateKey, publicKey } = lab.credentials.sshKey
  const accounts = Object.fromEntries(Object.keys(SHELLS).map((name) => [name, name as MaliciousShell]))
  await addMaliciousAccounts(lab.node('evil'), publicKey, accounts)
  for (const name of Object.keys(accounts)) {
    const credential = await createCredential(fixture.admin, { name, kind: 'SSH_KEY', username: name, privateKey })
    nodes.set(name, (await fixture.addKnown(lab.node('evil'), { name, credentialId: credential.id })).id)
  }
  for (const name of MALICIOUS_SERVERS) nodes.set(name, await addServer(name))
  nodes.set('good', (await fixture.addKnown(lab.node('good'), { name: 'good' })).id)
})
afterAll(async () => {
  servers?.close()
  await fixture?.close()
})

async function addServer(kind: string, credentialId?: string): Promise<string> {
  const fields = { host: '127.0.0.1', port: servers.port(kind), hostKey: servers.hostKey }
  const password = () =>
    createCredential(fixture.admin, { name: kind, kind: 'SSH_PASSWORD', username: 'ops', password: 'sesame' })
  const id = credentialId ?? (await password()).id
  const name = `${kind.replaceAll(' ', '-')}${credentialId ? '-rotated' : ''}`
  return (await fixture.add(lab.node('evil'), { name, ...fields, credentialId: id })).id
}

// Only root can add accounts to the nodes.
describe.runIf(process.getuid?.() === 0)('a malicious node', () => {
  test('fails its connection test with the reason, in bounded memory and time; other tests pass', async () => {
    const memory = watchMemory()
    const tests = await fixture.testAll([...nodes.values()])
    const byNode = new Map(tests.map((each) => [each.nodeId, each]))
    for (const [name, pattern] of Object.entries({ ...SHELLS, ...SERVERS, good: null })) {
      const { error, stages } = byNode.get(nodes.get(name)!)!
      if (pattern) expect(error, name).toMatch(pattern)
      else expect(error, name).toBeNull()
      expect(stages.length, name).toBeLessThanOrEqual(10)
      expect(JSON.stringify(stages), name).toMatch(/^[\x20-\x7e]{1,5000}$/)
    }
    expect(memory.growth()).toBeLessThan(MAX_GROWTH)
  })

  test('fails its discovery and stores a bounded part of its output; other nodes are discovered', async () => {
    const memory = watchMemory()
    const ids = [...nodes].filter(([name]) => isLong || QUICK.includes(name)).map(([, id]) => id)
    const found = await fixture.discoverAll(ids)
    const { discoveryEvidence } = schema
    for (const row of found) {
      if (row.nodeId === nodes.get('good')) expect(row).toMatchObject({ error: null })
      else expect(row).toMatchObject({ result: null, error: expect.stringMatching(/^[\x20-\x7e]{10,1000}$/) })
      const [evidence] = await fixture.runtime.db
        .select()
        .from(discoveryEvidence)
        .where(eq(discoveryEvidence.discoveryId, row.id))
      if (evidence) expect(gunzipSync(evidence.gzip).length).toBeLessThanOrEqual(PROBE_OUTPUT_LIMIT_BYTES)
    }
    expect(memory.growth()).toBeLessThan(MAX_GROWTH)
  })

  test('fails the rotation of its secret; other nodes get the new one', async () => {
    const pair = makeKeyPair()
    await addMaliciousAccounts(lab.node('evil'), pair.public, { rotated: 'stdout' })
    const setUp = `useradd -m -p '*' -s /bin/sh rotated; install -d -m 0700 -o rotated /home/rotated/.ssh; echo '${pair.public}' >/home/rotated/.ssh/authorized_keys; chown rotated /home/rotated/.ssh/*`
    await lab.node('good').exec(['sh', '-ec', setUp])
    const { id: credentialId } = await createCredential(fixture.admin, {
      name: 'rotated',
      kind: 'SSH_KEY',
      username: 'rotated',
      privateKey: pair.private,
    })
    const good = await fixture.addKnown(lab.node('good'), { name: 'rotated-good', credentialId })
    await fixture.addKnown(lab.node('evil'), { name: 'rotated-evil', credentialId })
    const kinds = isLong ? MALICIOUS_SERVERS.filter((kind) => !ACCEPTING.includes(kind)) : ['endless greeting']
    for (const kind of kinds) await addServer(kind, credentialId)
    const memory = watchMemory()
    const { id } = await rotateCredential(fixture.admin, { id: credentialId })
    const { credentialRotations, credentialRotationHosts } = schema
    const isRotation = eq(credentialRotations.id, id)
    const status = async () => (await fixture.runtime.db.select().from(credentialRotations).where(isRotation))[0]!.status
    await expect.poll(status).toBe('PAUSED')
    const hosts = await fixture.runtime.db
      .select()
      .from(credentialRotationHosts)
      .where(eq(credentialRotationHosts.rotationId, id))
    for (const host of hosts)
      if (host.nodeId === good.id) expect(host.status).toBe('INSTALLED')
      else expect(host).toMatchObject({ status: 'FAILED', error: expect.stringMatching(/^[\x20-\x7e]{10,1000}$/) })
    expect(memory.growth()).toBeLessThan(MAX_GROWTH)
  })
})
