import { createCredential, updateCredential } from '@muster/core/credentials'
import { updateNode } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import {
  cancelCredentialRotation,
  completeCredentialRotation,
  reassignCredentialRotations,
  resumeCredentialRotation,
  rotateCredential,
} from '@muster/core/rotations'
import { claimJobRun } from '@muster/core/run-queue'
import { runJob } from '@muster/core/runs'
import { LOOPBACK, makeKeyPair } from '@muster/core/testing'
import type { OwnedLab } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runAccess } from '../node-access.ts'
import { createNodeFixture } from '../testing/node-fixture.ts'

const { credentials, jobRuns, credentialRotations, credentialRotationHosts } = schema
const NODES = ['one', 'two', 'three']
let lab: OwnedLab
let fixture: Awaited<ReturnType<typeof createNodeFixture>>

beforeAll(async () => {
  lab = await createLab({ nodes: NODES.map((name) => ({ name, profile: 'cpu' as const })) })
  fixture = await createNodeFixture(lab)
})
afterAll(() => fixture.close())

let count = 0
/** A credential whose secret no other test uses, and a node for each name that logs in with it. */
async function onboard(kind: 'SSH_KEY' | 'SSH_PASSWORD', names = NODES) {
  const user = `user${++count}`
  const pair = makeKeyPair()
  const password = `first password ${count}`
  for (const name of names) {
    const setUp = `useradd -m -s /bin/sh ${user} && printf '%s:%s\\n' ${user} '${password}' | chpasswd -c SHA256 &&
      install -d -m 0700 -o ${user} /home/${user}/.ssh && printf '# mine\\n%s' '${pair.public}' >/home/${user}/.ssh/authorized_keys && chown ${user} /home/${user}/.ssh/*`
    expect((await lab.node(name).exec(['sh', '-c', setUp])).code).toBe(0)
  }
  const secret = kind === 'SSH_KEY' ? { privateKey: pair.private } : { password }
  const credential = await createCredential(fixture.admin, { name: `rotated ${count}`, kind, username: user, ...secret })
  const nodes = []
  for (const name of names)
    nodes.push(await fixture.addKnown(lab.node(name), { name: `${name}-${count}`, credentialId: credential.id }))
  const keysOf = async (name: string) =>
    (await lab.node(name).exec(['cat', `/home/${user}/.ssh/authorized_keys`])).stdout.toString()
  return { credential, nodes, ids: nodes.map(({ id }) => id), user, pair, password, keysOf }
}

const rotationOf = async (id: string) =>
  (await fixture.runtime.db.select().from(credentialRotations).where(eq(credentialRotations.id, id)))[0]!
const hostsOf = (id: string) =>
  fixture.runtime.db
    .select()
    .from(credentialRotationHosts)
    .where(eq(credentialRotationHosts.rotationId, id))
    .orderBy(credentialRotationHosts.nodeId)
const settled = (id: string) =>
  vi.waitFor(async () => {
    const rotation = await rotationOf(id)
    expect(['RUNNING', 'CANCELING']).not.toContain(rotation.status)
    return rotation
  }, 60_000)
const errorsOf = async (ids: string[]) => (await fixture.testAll(ids)).map(({ error }) => error)
const NONE = (ids: string[]) => ids.map(() => null)
/** Lets the SSH server of a node reject the user, whatever the secret. */
const deny = (name: string, user: string) => lab.node(name).exec(['sh', '-c', `passwd -l ${user}; chmod 0777 /home/${user}`])
const allow = (name: string, user: string, password: string) =>
  lab.node(name).exec(['sh', '-c', `printf '%s:%s\\n' ${user} '${password}' | chpasswd -c SHA256; chmod 0755 /home/${user}`])

// The nodes need accounts of their own.
describe.runIf(process.getuid?.() === 0)('a rotation', () => {
  it('of a key installs a new one on every node and removes the previous one', async () => {
    const { credential, ids, pair, keysOf } = await onboard('SSH_KEY')
    const { id } = await rotateCredential(fixture.admin, { id: credential.id })
    expect(await settled(id)).toMatchObject({ status: 'SUCCEEDED', failedCount: 0, encrypted: {} })
    expect((await hostsOf(id)).map(({ status }) => status)).toEqual(['DONE', 'DONE', 'DONE'])
    const [after] = await fixture.runtime.db.select().from(credentials).where(eq(credentials.id, credential.id))
    expect(after!.publicKey).not.toBe(credential.publicKey)
    for (const name of NODES) expect(await keysOf(name)).toBe(`# mine\n${after!.publicKey}\n`)
    expect(await keysOf('one')).not.toContain(pair.public.split(' ')[1])
    expect(await errorsOf(ids)).toEqual(NONE(ids))
  })

  it('of a password sets a new one, given or random', async () => {
    const { credential, ids } = await onboard('SSH_PASSWORD', ['one', 'two'])
    for (const password of [undefined, `it's $HOME \`given\` \\n`]) {
      const { id } = await rotateCredential(fixture.admin, { id: credential.id, password })
      expect(await settled(id)).toMatchObject({ status: 'SUCCEEDED' })
      expect(await errorsOf(ids)).toEqual(NONE(ids))
    }
  })

  it.each(['SSH_KEY', 'SSH_PASSWORD'] as const)(
    'of a %s pauses when a node fails, locks nobody out, and can be completed',
    async (kind) => {
      const { credential, ids, user, password } = await onboard(kind)
      await deny('two', user)
      const { id } = await rotateCredential(fixture.admin, { id: credential.id })
      expect(await settled(id)).toMatchObject({ status: 'PAUSED', switchedAt: null })
      expect((await hostsOf(id)).map(({ status }) => status)).toEqual(['INSTALLED', 'FAILED', 'INSTALLED'])
      expect((await hostsOf(id))[1]!.error).toMatch(/rejects/)
      await expect(updateCredential(fixture.admin, { id: credential.id, password: 'xxxx' })).rejects.toThrow(
        /rotation of .* is in progress/,
      )
      expect(await errorsOf([ids[0]!, ids[2]!])).toEqual([null, null])

      await completeCredentialRotation(fixture.admin, { id })
      const ended = await settled(id)
      expect(ended).toMatchObject({ status: 'PARTIAL', failedCount: 1 })
      await allow('two', user, password)
      expect((await fixture.rowOf(ids[1]!)).credentialId).toBe(ended.leftCredentialId)
      expect((await fixture.rowOf(ids[0]!)).credentialId).toBe(credential.id)
      expect(await errorsOf(ids)).toEqual(NONE(ids))
    },
  )

  it('resumes with the nodes that failed', async () => {
    const { credential, ids, user, password } = await onboard('SSH_PASSWORD', ['one', 'two'])
    await deny('one', user)
    const { id } = await rotateCredential(fixture.admin, { id: credential.id })
    expect(await settled(id)).toMatchObject({ status: 'PAUSED' })
    await allow('one', user, password)
    await resumeCredentialRotation(fixture.admin, { id })
    expect(await settled(id)).toMatchObject({ status: 'SUCCEEDED' })
    expect(await errorsOf(ids)).toEqual(NONE(ids))
  })

  it.each(['SSH_KEY', 'SSH_PASSWORD'] as const)(
    'of a %s is canceled: every node accepts the previous secret alone',
    async (kind) => {
      const { credential, ids, user, password, pair, keysOf } = await onboard(kind, ['one', 'two'])
      await deny('two', user)
      const { id, publicKey } = await rotateCredential(fixture.admin, { id: credential.id })
      expect(await settled(id)).toMatchObject({ status: 'PAUSED' })
      await allow('two', user, password)
      await cancelCredentialRotation(fixture.admin, { id })
      expect(await settled(id)).toMatchObject({ status: 'CANCELED', failedCount: 0 })
      const [after] = await fixture.runtime.db.select().from(credentials).where(eq(credentials.id, credential.id))
      expect(after!.encrypted).toEqual(credential.encrypted)
      expect(await errorsOf(ids)).toEqual(NONE(ids))
      if (kind === 'SSH_KEY') {
        expect(await keysOf('one')).toContain(pair.public.trim())
        expect(await keysOf('one')).not.toContain(publicKey!.split(' ')[1])
      }
    },
  )

  it('that is canceled while a node waits for the end of a run leaves the previous password everywhere', async () => {
    const { credential, ids } = await onboard('SSH_PASSWORD', ['one', 'two'])
    const node = await fixture.rowOf(ids[1]!)
    const run = await runJob(fixture.admin, { template: 'connectivity_check', limit: node.name })
    await fixture.runtime.db.update(jobRuns).set({ startedAt: new Date() }).where(eq(jobRuns.id, run.id))
    const { id } = await rotateCredential(fixture.admin, { id: credential.id })
    const statuses = async () => (await hostsOf(id)).map(({ status }) => status).join(' ')
    await expect.poll(statuses, { timeout: 60_000 }).toBe('INSTALLED PENDING')
    await cancelCredentialRotation(fixture.admin, { id })
    await fixture.runtime.db.update(jobRuns).set({ finishedAt: new Date() }).where(eq(jobRuns.id, run.id))
    expect(await settled(id)).toMatchObject({ status: 'CANCELED', failedCount: 0 })
    expect(await statuses()).toBe('RESTORED RESTORED')
    expect(await errorsOf(ids)).toEqual(NONE(ids))
  })

  it('includes a node that is added before the switch', async () => {
    const { credential, ids, user, password } = await onboard('SSH_PASSWORD', ['one', 'two'])
    const late = await onboard('SSH_PASSWORD', ['three'])
    await deny('one', user)
    const { id } = await rotateCredential(fixture.admin, { id: credential.id })
    expect(await settled(id)).toMatchObject({ status: 'PAUSED' })
    await lab.node('three').exec(['sh', '-c', `useradd -m -s /bin/sh ${user}`])
    await allow('three', user, password)
    await updateNode(fixture.admin, { id: late.ids[0]!, credentialId: credential.id })
    await allow('one', user, password)
    await resumeCredentialRotation(fixture.admin, { id })
    expect(await settled(id)).toMatchObject({ status: 'SUCCEEDED' })
    expect(await hostsOf(id)).toHaveLength(3)
    expect(await errorsOf([...ids, ...late.ids])).toEqual(NONE([...ids, ...late.ids]))
  })

  it('whose worker died after it changed a password continues on another worker', async () => {
    const { credential, ids, user } = await onboard('SSH_PASSWORD', ['one'])
    await deny('one', user)
    const { id } = await rotateCredential(fixture.admin, { id: credential.id, password: 'already set' })
    expect(await settled(id)).toMatchObject({ status: 'PAUSED' })
    // The state that a worker leaves which died between the change and its record.
    await allow('one', user, 'already set')
    await fixture.runtime.db
      .update(credentialRotationHosts)
      .set({ error: null })
      .where(eq(credentialRotationHosts.rotationId, id))
    await fixture.runtime.db
      .update(credentialRotations)
      .set({ pausedAt: null, claimToken: 'dead', touchedAt: sql`now() - interval '2 minutes'` })
      .where(eq(credentialRotations.id, id))
    expect(await reassignCredentialRotations(fixture.system)).toBe(1)
    expect(await settled(id)).toMatchObject({ status: 'SUCCEEDED' })
    expect(await errorsOf(ids)).toEqual(NONE(ids))
  })

  it('delays a run that starts while a password is being changed', async () => {
    const { credential, ids, user } = await onboard('SSH_PASSWORD', ['one'])
    await deny('one', user)
    const { id } = await rotateCredential(fixture.admin, { id: credential.id, password: 'new password' })
    expect(await settled(id)).toMatchObject({ status: 'PAUSED' })
    // The state while a worker changes the password.
    const { db } = fixture.runtime
    await db
      .update(credentialRotations)
      .set({ pausedAt: null, claimToken: 'a worker', touchedAt: sql`now()` })
      .where(eq(credentialRotations.id, id))
    const setHost = (changes: object) =>
      db.update(credentialRotationHosts).set(changes).where(eq(credentialRotationHosts.rotationId, id))
    await setHost({ error: null, changingSince: sql`now()` })
    const { id: runId } = await runJob(fixture.admin, { template: 'connectivity_check', limit: `one-${count}` })
    const claim = (await claimJobRun(fixture.worker, { id: runId, workerId: 'w' }))!
    await db.update(jobRuns).set({ workerSeenAt: sql`now() - interval '20 seconds'` }).where(eq(jobRuns.id, runId))
    let password: string | undefined
    const access = runAccess(fixture.worker, LOOPBACK, claim, ids, fixture.stopping.signal).then((nodes) => {
      const node = nodes.get(ids[0]!)!
      password = 'login' in node ? node.login.password : node.message
    })
    // It stays alive while it waits.
    await expect
      .poll(async () => {
        const [run] = await db.select().from(jobRuns).where(eq(jobRuns.id, runId))
        return Date.now() - run!.workerSeenAt!.getTime() < 15_000
      })
      .toBe(true)
    expect(password).toBeUndefined()
    await setHost({ changingSince: null, installedAt: sql`now()` })
    await access
    expect(password).toBe('new password')
    await db.update(jobRuns).set({ finishedAt: new Date() }).where(eq(jobRuns.id, runId))
    await db.update(credentialRotations).set({ finishedAt: new Date() }).where(eq(credentialRotations.id, id))
  })
})
