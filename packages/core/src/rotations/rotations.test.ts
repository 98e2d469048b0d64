import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { auditEntries } from '../audit/index.ts'
import { type Credential, credentials } from '../credentials/tables.ts'
import { claimJobRun } from '../run-queue/index.ts'
import { runJob } from '../runs/index.ts'
import { jobRuns } from '../runs/tables.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { advanceCredentialRotation } from './advance-credential-rotation.ts'
import { cancelCredentialRotation } from './cancel-credential-rotation.ts'
import { claimCredentialRotation } from './claim-credential-rotation.ts'
import { isSecretChanging } from './is-secret-changing.ts'
import { recordRotationHost } from './record-rotation-host.ts'
import { rotateCredential } from './rotate-credential.ts'
import { startRotationStep } from './start-rotation-step.ts'
import { credentialRotationHosts, credentialRotations } from './tables.ts'

let t: TestRuntime
let ours: TenantFixture
let credential: Credential
let id: string
let host: { id: string; nodeId: string }
const SECRETS = { next: { password: 'next' }, previous: { password: 'previous' } }
const claim = (token: string) => claimCredentialRotation(ours.worker, { id, token })
const advance = (token: string) => advanceCredentialRotation(ours.worker, { id, token }, SECRETS)
const step = (token: string, name: 'INSTALL' | 'RESTORE' = 'INSTALL') => ({ ...host, rotationId: id, token, step: name })
const begin = (...of: Parameters<typeof step>) => startRotationStep(ours.worker, { ...step(...of), waitsForRuns: true })
const record = (...of: Parameters<typeof step>) => recordRotationHost(ours.worker, { ...step(...of), error: null })
const hostRow = async () =>
  (await t.runtime.db.select().from(credentialRotationHosts).where(eq(credentialRotationHosts.rotationId, id)))[0]!
const rowOf = async () => (await t.runtime.db.select().from(credentialRotations).where(eq(credentialRotations.id, id)))[0]!
const loseClaim = () =>
  t.runtime.db
    .update(credentialRotations)
    .set({ touchedAt: sql`now() - interval '2 minutes'` })
    .where(eq(credentialRotations.id, id))

beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t?.close())
beforeEach(async () => {
  ours = await t.given.tenant()
  credential = await t.given.credential(ours.admin, 'SSH_PASSWORD')
  await t.given.fleet(ours.admin, { with: { credentialId: credential.id } })
  id = (await rotateCredential(ours.admin, { id: credential.id })).id
  await claim('first')
  const work = await advance('first')
  expect(work).toMatchObject({ step: 'INSTALL', hosts: [{}] })
  host = work!.hosts[0]!
})

test('one worker does not execute a rotation twice; a cancellation waits for the step in work', async () => {
  expect(await begin('first')).toBe('READY')
  await cancelCredentialRotation(ours.admin, { id })
  // The queue entry of the cancellation, with the same worker.
  expect(await claim('second')).toBeNull()
  expect(await advance('second')).toBeNull()
  expect(await begin('second', 'RESTORE')).toBe('CANCELED')
  await record('first')
  expect(await advance('first')).toMatchObject({ step: 'RESTORE', hosts: [host] })
  expect((await rowOf()).finishedAt).toBeNull()
  expect(await begin('first', 'RESTORE')).toBe('READY')
  await record('first', 'RESTORE')
  expect(await advance('first')).toBeNull()
  expect(await rowOf()).toMatchObject({ status: 'CANCELED', encrypted: {} })
})

test('the log shows that the secret of the credential changed, but not the secret', async () => {
  await begin('first')
  await record('first')
  await advance('first')
  const entries = await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.objectId, credential.id))
  expect(entries.find(({ action }) => action === 'credential_rotation.switch')).toMatchObject({
    before: { encrypted: { password: '[hidden]' } },
    after: { encrypted: { password: '[hidden, changed]' } },
  })
})

test('a password that sudo needs is not rotated', async () => {
  const sudoers = await t.given.credential(ours.admin, 'SSH_PASSWORD')
  const become = await t.given.credential(ours.admin, 'BECOME')
  const [node] = await t.given.fleet(ours.admin, {
    prefix: 'sudo',
    with: { credentialId: sudoers.id, becomeCredentialId: become.id },
  })
  await expect(rotateCredential(ours.admin, { id: sudoers.id })).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining(`sudo on ${node!.name} has a password`),
  })
  await t.runtime.db.update(credentials).set({ becomeMethod: 'su' }).where(eq(credentials.id, become.id))
  expect(await rotateCredential(ours.admin, { id: sudoers.id })).toMatchObject({ status: 'RUNNING' })
})

test('no host gets the new secret after a cancellation', async () => {
  await cancelCredentialRotation(ours.admin, { id })
  expect(await begin('first')).toBe('CANCELED')
})

test('an execution that lost its claim neither continues nor records', async () => {
  expect(await begin('first')).toBe('READY')
  await loseClaim()
  expect(await claim('second')).not.toBeNull()
  expect(await claim('first')).toBeNull()
  expect(await advance('first')).toBeNull()
  expect(await begin('first')).toBe('CANCELED')
  await record('first')
  expect(await hostRow()).toMatchObject({ status: 'PENDING' })
})

test('a password changes only while no started run uses it, and runs that start then wait', async () => {
  const run = await runJob(ours.operator, { template: 'connectivity_check', limit: 'all' })
  expect(await begin('first')).toBe('READY')
  expect(await isSecretChanging(ours.worker, [host.nodeId])).toBe(true)
  await claimJobRun(ours.worker, { id: run.id, workerId: 'w' })
  await record('first')
  expect(await isSecretChanging(ours.worker, [host.nodeId])).toBe(false)
  expect(await begin('first')).toEqual({ run: 'connectivity_check #1' })
  expect(await isSecretChanging(ours.worker, [host.nodeId])).toBe(false)
  await t.runtime.db.update(jobRuns).set({ finishedAt: new Date() }).where(eq(jobRuns.id, run.id))
  expect(await begin('first')).toBe('READY')
  // Runs do not wait for a lost worker.
  await loseClaim()
  expect(await isSecretChanging(ours.worker, [host.nodeId])).toBe(false)
})

test('a step sees a run that starts after its first check', async () => {
  const { id: runId } = await runJob(ours.operator, { template: 'connectivity_check', limit: 'all' })
  const { starting } = await t.runtime.db.transaction(async (tx) => {
    await tx.select().from(credentialRotationHosts).where(eq(credentialRotationHosts.id, host.id)).for('update')
    const starting = begin('first')
    await expect.poll(waiting).toBe(1)
    await claimJobRun(ours.worker, { id: runId, workerId: 'w' })
    return { starting }
  })
  expect(await starting).toEqual({ run: 'connectivity_check #1' })
})
const waiting = async () =>
  (await t.appPool.query(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)).rowCount
