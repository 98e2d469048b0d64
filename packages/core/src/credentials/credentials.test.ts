import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditEntries } from '../audit/index.ts'
import { DomainError } from '../kernel/errors.ts'
import { addNode, fingerprint } from '../nodes/index.ts'
import { computeNodes } from '../nodes/tables.ts'
import { rotateCredential } from '../rotations/index.ts'
import { credentialRotations } from '../rotations/tables.ts'
import { cancelJobRun, runJob } from '../runs/index.ts'
import { jobRuns } from '../runs/tables.ts'
import { makeHostKey, makePrivateKey, type TenantFixture } from '../testing/factories.ts'
import { race } from '../testing/race.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { resolveNodeAccess } from './access.ts'
import { createCredential } from './create-credential.ts'
import { deleteCredential } from './delete-credential.ts'
import { type Credential, credentials } from './tables.ts'
import { updateCredential } from './update-credential.ts'

let t: TestRuntime
let ours: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
})
afterAll(() => t.close())

let seen = 0
const name = () => `credential ${++seen}`
const bastion = (fields: object = {}) => t.given.credential(ours.admin, 'BASTION', fields)
const openField = (c: Credential, field: 'password' | 'privateKey' | 'passphrase') =>
  t.runtime.vault.open({ tenantId: c.tenantId, objectId: c.id, field }, c.encrypted[field]!)
const access = async (nodeId: string) => {
  const found = (await resolveNodeAccess(ours.worker, [nodeId])).get(nodeId)!
  if (found instanceof DomainError) throw found
  return found
}

describe('createCredential', () => {
  test('stores no secret in plain text', async () => {
    const privateKey = makePrivateKey('open sesame')
    const row = await createCredential(ours.admin, {
      name: name(),
      kind: 'SSH_KEY',
      username: 'ops',
      privateKey,
      passphrase: 'open sesame',
    })
    expect(row).toMatchObject({ kind: 'SSH_KEY', publicKey: expect.stringMatching(/^ssh-ed25519 /), username: 'ops' })
    const written = JSON.stringify([row, await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.objectId, row.id))])
    expect(written).not.toMatch(/PRIVATE KEY|open sesame/)
    expect(await openField(row, 'passphrase')).toBe('open sesame')
    expect(await openField(row, 'privateKey')).toBe(privateKey)
  })

  test('fills in the defaults of a kind', async () => {
    expect(await createCredential(ours.admin, { name: name(), kind: 'BECOME', password: 'pass' })).toMatchObject({
      username: 'root',
      becomeMethod: 'sudo',
    })
    expect(await bastion()).toMatchObject({ port: 22, viaId: null, becomeMethod: null })
  })

  test.each([
    [{ kind: 'SSH_KEY' }, ['privateKey']],
    [{ kind: 'SSH_KEY', privateKey: 'x' }, ['privateKey']],
    [{ kind: 'SSH_KEY', privateKey: 'x', password: 'pass', host: 'h' }, ['password', 'host']],
    [{ kind: 'SSH_PASSWORD' }, ['password']],
    [{ kind: 'SSH_PASSWORD', password: 'long enough', allowedHosts: [] }, ['allowedHosts']],
    [{ kind: 'SSH_PASSWORD', password: 'long enough', allowedHosts: ['10.*'] }, ['allowedHosts.0']],
    [{ kind: 'SSH_PASSWORD', password: 'long enough', allowedHosts: ['10.0.0.0/33'] }, ['allowedHosts.0']],
    [{ kind: 'BASTION', host: 'b', username: 'u', password: 'long enough', allowedHosts: ['b'] }, ['allowedHosts']],
    [{ kind: 'SSH_PASSWORD', password: '' }, ['password']],
    [{ kind: 'SSH_PASSWORD', password: 'aa\nbb' }, ['password']],
    [{ kind: 'SSH_PASSWORD', password: 'pass', username: '-l root' }, ['username']],
    // Masks of logs cannot distinguish shorter ones from other text.
    [{ kind: 'SSH_PASSWORD', password: 'abc', username: 'ops' }, ['password']],
    [{ kind: 'BASTION' }, ['host', 'username', 'privateKey']],
    [{ kind: 'BASTION', host: 'a;b', username: 'u', password: 'pass' }, ['host']],
    [{ kind: 'BASTION', host: 'h', port: 0, username: 'u', password: 'pass' }, ['port']],
    [{ kind: 'BASTION', host: 'h', username: 'u', password: 'pass', passphrase: 'xxxx' }, ['passphrase']],
    [{ kind: 'BECOME', password: 'pass', becomeMethod: 'doas' }, ['becomeMethod']],
    [{ kind: 'BECOME', password: 'pass', privateKey: 'k' }, ['privateKey']],
    [{ kind: 'BECOME', password: 'pass', hostKey: makeHostKey() }, ['hostKey']],
    [{ kind: 'GIT' }, ['host', 'privateKey']],
    [{ kind: 'GIT', host: 'h', privateKey: 'k' }, ['hostKey']],
    [{ kind: 'GIT', host: 'h', password: 'pass', hostKey: 'h ssh-rsa' }, ['hostKey']],
    [{ kind: 'TELNET' }, ['kind']],
  ])('rejects %j', async (fields, paths) => {
    const error = await createCredential(ours.admin, { name: name(), ...fields } as never).catch((e: unknown) => e)
    expect(error).toMatchObject({ code: 'INVALID_INPUT', issues: paths.map((path) => ({ path })) })
  })

  test('of concurrent calls with one name, one wins', async () => {
    const both = { name: name(), kind: 'BECOME', password: 'pass' } as const
    const { won, lost } = await race(createCredential(ours.admin, both), createCredential(ours.owner, both))
    expect([won.length, lost.map((e) => e.name)]).toEqual([1, ['Conflict']])
  })
})

describe('updateCredential', () => {
  test('keeps omitted fields and replaces given secrets', async () => {
    const row = await t.given.credential(ours.admin, 'SSH_PASSWORD', { description: 'old' })
    const changed = await updateCredential(ours.admin, { id: row.id, username: 'other' })
    expect(changed).toMatchObject({ username: 'other', description: 'old', encrypted: row.encrypted })
    const replaced = await updateCredential(ours.admin, { id: row.id, password: 'new one' })
    expect(await openField(replaced, 'password')).toBe('new one')
  })

  test('a new key removes the old passphrase', async () => {
    const row = await t.given.credential(ours.admin, 'SSH_KEY', { privateKey: makePrivateKey('x yz'), passphrase: 'x yz' })
    const changed = await updateCredential(ours.admin, { id: row.id, privateKey: makePrivateKey() })
    expect(Object.keys(changed.encrypted)).toEqual(['privateKey'])
    expect(changed.publicKey).not.toBe(row.publicKey)
    await expect(updateCredential(ours.admin, { id: row.id, passphrase: 'zzzz' })).rejects.toMatchObject({
      issues: [{ path: 'passphrase' }],
    })
    await expect(updateCredential(ours.admin, { id: row.id, privateKey: null })).rejects.toMatchObject({
      issues: [{ path: 'privateKey' }],
    })
  })

  test('a change of a bastion’s address drops its pinned key; other changes keep it', async () => {
    const row = await bastion()
    const hostKey = makeHostKey()
    await t.runtime.db.update(credentials).set({ hostKey, hostKeyApprovedAt: new Date() }).where(eq(credentials.id, row.id))
    expect(await updateCredential(ours.admin, { id: row.id, host: row.host!, description: 'x' })).toMatchObject({ hostKey })
    expect(await updateCredential(ours.admin, { id: row.id, port: 2222, password: 'xxxx' })).toMatchObject({
      hostKey: null,
      hostKeyApprovedAt: null,
    })
    const entries = await t.runtime.db
      .select()
      .from(auditEntries)
      .where(eq(auditEntries.objectId, row.id))
      .orderBy(auditEntries.id)
    expect(entries.at(-1)!.details).toMatchObject({ droppedHostKey: fingerprint(hostKey) })
  })

  test.each(['BASTION', 'GIT'] as const)('rejects another host for the secret of kind %s without its secret', async (kind) => {
    const row = await t.given.credential(ours.admin, kind, { host: 'here.test', password: 'kept' })
    for (const move of [{ host: 'there.test' }, { port: 4444 }])
      await expect(updateCredential(ours.admin, { id: row.id, ...move })).rejects.toMatchObject({
        issues: [{ path: 'password', message: expect.stringContaining('required again') }],
      })
    const moved = await updateCredential(ours.admin, { id: row.id, host: 'there.test', password: 'another' })
    expect(await openField(moved, 'password')).toBe('another')
  })

  test('another address of a Git server with a private key requires its host key', async () => {
    const line = `git.test ${makeHostKey()} of the depot`
    const login = { host: 'git.test', privateKey: makePrivateKey(), password: undefined }
    const row = await t.given.credential(ours.admin, 'GIT', { ...login, hostKey: line })
    expect(row.hostKey).toBe(line.split(' ').slice(1, 3).join(' '))
    const moved = { id: row.id, host: 'git2.test', privateKey: makePrivateKey() }
    await expect(updateCredential(ours.admin, moved)).rejects.toMatchObject({ issues: [{ path: 'hostKey' }] })
    const hostKey = makeHostKey()
    expect(await updateCredential(ours.admin, { ...moved, hostKey })).toMatchObject({ host: 'git2.test', hostKey })
  })

  test('rejects a name that is taken', async () => {
    const [one, two] = [await bastion(), await bastion()]
    await expect(updateCredential(ours.admin, { id: one.id, name: two.name })).rejects.toMatchObject({ code: 'CONFLICT' })
  })
})

describe('the route through bastions', () => {
  test('has no cycle', async () => {
    const a = await bastion()
    const b = await bastion({ viaId: a.id })
    const c = await bastion({ viaId: b.id })
    for (const via of [a, b, c])
      await expect(updateCredential(ours.admin, { id: a.id, viaId: via.id })).rejects.toMatchObject({
        issues: [{ path: 'viaId', message: expect.stringContaining('circle') }],
      })
    const { won, lost } = await race(
      ...[await bastion(), await bastion()].map((x, i, both) =>
        updateCredential(ours.admin, { id: x.id, viaId: both[1 - i]!.id }),
      ),
    )
    expect([won.length, lost.map((e) => e.name)]).toEqual([1, ['InvalidInput']])
  })

  test('has at most five hops in both directions', async () => {
    let last = await bastion()
    const first = last
    for (let i = 0; i < 4; i++) last = await bastion({ viaId: last.id })
    await expect(bastion({ viaId: last.id })).rejects.toMatchObject({
      issues: [{ path: 'viaId', message: expect.stringContaining('5 hops') }],
    })
    const door = await bastion()
    await expect(updateCredential(ours.admin, { id: first.id, viaId: door.id })).rejects.toMatchObject({
      issues: [{ path: 'viaId' }],
    })
  })

  test('leads through bastions only', async () => {
    const key = await t.given.credential(ours.admin, 'SSH_KEY')
    await expect(bastion({ viaId: key.id })).rejects.toMatchObject({
      issues: [{ path: 'viaId', message: expect.stringContaining('SSH_KEY') }],
    })
  })
})

describe('deleteCredential', () => {
  test('names the nodes and bastions that use it', async () => {
    const row = await bastion()
    await t.given.fleet(ours.operator, { nodes: 12, prefix: 'used', with: { bastionId: row.id } })
    const behind = await bastion({ viaId: row.id })
    await expect(deleteCredential(ours.admin, { id: row.id })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining(`the nodes used[001-012] and the bastions ${behind.name}`),
    })
    expect(await deleteCredential(ours.admin, { id: behind.id })).toEqual({ id: behind.id })
  })

  test('is rejected while runs need it for a repository', async () => {
    const { id, name } = await createCredential(ours.admin, {
      name: 'sources',
      kind: 'GIT',
      username: 'ops',
      password: 'secret',
      host: 'git.example.org',
    })
    const key = await t.given.credential(ours.admin, 'SSH_KEY')
    const [node] = await t.given.fleet(ours.operator, { nodes: 1, prefix: 'waits', with: { credentialId: key.id } })
    const run = await runJob(ours.operator, { template: 'connectivity_check', limit: node!.name })
    await t.runtime.db.update(jobRuns).set({ gitCredentialId: id }).where(eq(jobRuns.id, run.id))
    await expect(deleteCredential(ours.admin, { id })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: `The credential ${name} is in use by 1 unfinished run; wait for the end, or cancel first.`,
    })
    await cancelJobRun(ours.operator, { id: run.id })
    expect(await deleteCredential(ours.admin, { id })).toEqual({ id })
  })

  test('is rejected while a rotation is unfinished, whose row alone has the new password of nodes', async () => {
    const credential = await t.given.credential(ours.admin, 'SSH_PASSWORD')
    const [node] = await t.given.fleet(ours.operator, { nodes: 1, prefix: 'rotates', with: { credentialId: credential.id } })
    const rotation = await rotateCredential(ours.admin, { id: credential.id })
    await t.runtime.db.update(computeNodes).set({ credentialId: null }).where(eq(computeNodes.id, node!.id))
    await expect(deleteCredential(ours.admin, { id: credential.id })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining(`A rotation of ${credential.name} is in progress`),
    })
    await t.runtime.db.update(credentialRotations).set({ finishedAt: new Date() }).where(eq(credentialRotations.id, rotation.id))
    expect(await deleteCredential(ours.admin, { id: credential.id })).toEqual({ id: credential.id })
  })

  test('of a deletion and a concurrent assignment to a node, one wins', async () => {
    for (let i = 0; i < 20; i++) {
      const key = await t.given.credential(ours.admin, 'SSH_KEY')
      const { won, lost } = await race<unknown>(
        addNode(ours.operator, { name: `taker${i}`, host: 'x', credentialId: key.id }),
        deleteCredential(ours.admin, { id: key.id }),
      )
      expect(won).toHaveLength(1)
      expect(lost[0]).toBeInstanceOf(DomainError)
    }
  })
})

describe('resolveNodeAccess', () => {
  test('rejects callers other than workers', async () => {
    for (const ctx of [ours.owner, ours.system])
      await expect(resolveNodeAccess(ctx, [])).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  test('decrypts login, become and every bastion, outermost first, and records the use', async () => {
    const outer = await bastion({ name: name(), host: 'outer', password: 'outer secret' })
    const inner = await bastion({ name: name(), host: 'inner', viaId: outer.id, privateKey: makePrivateKey(), password: null })
    const key = await t.given.credential(ours.admin, 'SSH_KEY', {
      privateKey: makePrivateKey('x yz'),
      passphrase: 'x yz',
      username: 'keyuser',
    })
    const become = await t.given.credential(ours.admin, 'BECOME', { becomeMethod: 'su', username: 'admin', password: 'raise' })
    const hostKey = makeHostKey()
    await t.runtime.db.update(credentials).set({ hostKey }).where(eq(credentials.id, inner.id))
    const [node] = await t.given.fleet(ours.operator, {
      prefix: 'way',
      with: { sshUser: null, credentialId: key.id, becomeCredentialId: become.id, bastionId: inner.id },
    })
    expect(await access(node!.id)).toMatchObject({
      node: { id: node!.id },
      hops: [
        {
          credentialId: outer.id,
          name: outer.name,
          host: 'outer',
          port: 22,
          login: { username: 'jump', password: 'outer secret' },
          hostKey: null,
        },
        {
          credentialId: inner.id,
          host: 'inner',
          login: { username: 'jump', privateKey: expect.stringContaining('OPENSSH') },
          hostKey,
        },
      ],
      login: { username: 'keyuser', passphrase: 'x yz', privateKey: expect.stringContaining('OPENSSH') },
      become: { method: 'su', user: 'admin', password: 'raise' },
    })
    for (const { id } of [outer, inner, key, become]) {
      const [row] = await t.runtime.db.select().from(credentials).where(eq(credentials.id, id))
      expect(row!.lastUsedAt).not.toBeNull()
    }
  })

  test("a node's own user overrides that of its credential; without become it uses sudo without a password", async () => {
    const password = await t.given.credential(ours.admin, 'SSH_PASSWORD', { username: 'general', password: 'pass' })
    const [node] = await t.given.fleet(ours.operator, { prefix: 'own', with: { sshUser: 'special', credentialId: password.id } })
    expect(await access(node!.id)).toMatchObject({
      hops: [],
      login: { username: 'special', password: 'pass' },
      become: { method: 'sudo', user: 'root', password: null },
    })
  })

  test('opens a password only for hosts that it is allowed on', async () => {
    const allowedHosts = ['192.0.2.0/24', 'gpu*.example.org']
    const password = await t.given.credential(ours.admin, 'SSH_PASSWORD', { allowedHosts })
    const become = await t.given.credential(ours.admin, 'BECOME', { name: name(), allowedHosts })
    const key = await t.given.credential(ours.admin, 'SSH_KEY')
    const open = async (host: string, credentialId = password.id, becomeCredentialId: string | null = null) =>
      access((await t.given.fleet(ours.operator, { prefix: name(), with: { host, credentialId, becomeCredentialId } }))[0]!.id)
    for (const host of ['192.0.2.9', 'gpu7.example.org'])
      expect(await open(host)).toMatchObject({ login: { password: 'correct horse' } })
    for (const host of ['198.51.100.9', '::ffff:198.51.100.9', 'gpu7.example.org.attacker.test', '192.0.2.9.attacker.test'])
      await expect(open(host)).rejects.toMatchObject({
        code: 'CONFLICT',
        message: expect.stringContaining(`not sent to ${host}`),
      })
    await expect(open('198.51.100.9', key.id, become.id)).rejects.toMatchObject({
      message: expect.stringContaining(become.name),
    })
    // A row without a list, as a database restored from elsewhere may have.
    await t.runtime.db.update(credentials).set({ allowedHosts: [] }).where(eq(credentials.id, password.id))
    await expect(open('192.0.2.9')).rejects.toMatchObject({ message: expect.stringContaining('its allowed hosts are none') })
  })

  test('names the missing part for each node', async () => {
    const nameless = await t.given.credential(ours.admin, 'SSH_KEY', { username: null })
    const good = await t.given.credential(ours.admin, 'SSH_KEY')
    const moved = await t.given.credential(ours.admin, 'SSH_KEY')
    await t.runtime.db.update(credentials).set({ encrypted: good.encrypted }).where(eq(credentials.id, moved.id))
    const nodes = await t.given.fleet(ours.operator, {
      nodes: 5,
      prefix: 'lack',
      with: (i) =>
        [
          {},
          { sshUser: null, credentialId: nameless.id },
          { credentialId: good.id },
          { credentialId: moved.id },
          { connectionType: 'local' as const },
        ][i]!,
    })
    const gone = '019a0000-0000-7000-8000-000000000000'
    const found = await resolveNodeAccess(ours.worker, [...nodes.map((n) => n.id), gone])
    expect(found.get(nodes[0]!.id)).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('has no credential') })
    expect(found.get(nodes[1]!.id)).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('has an SSH user') })
    expect(found.get(nodes[2]!.id)).toMatchObject({ login: { username: 'ops' } })
    expect(found.get(nodes[3]!.id)).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('cannot be decrypted') })
    expect(found.get(nodes[4]!.id)).toMatchObject({ hops: [], node: { connectionType: 'local' } })
    expect(found.get(gone)).toMatchObject({ code: 'NOT_FOUND' })
  })
})

test('does not wait for a locked credential to record its use', async () => {
  const { id } = await t.given.credential(ours.admin, 'SSH_KEY')
  const [node] = await t.given.fleet(ours.admin, { prefix: name().replace(' ', '-'), with: { credentialId: id } })
  await t.runtime.db.transaction(async (tx) => {
    await tx.select().from(credentials).where(eq(credentials.id, id)).for('update')
    expect((await access(node!.id)).login.username).toBe('ops')
  })
  const usedAt = async () => (await t.runtime.db.select().from(credentials).where(eq(credentials.id, id)))[0]!.lastUsedAt
  expect(await usedAt()).toBeNull()
  await access(node!.id)
  expect(await usedAt()).not.toBeNull()
})
