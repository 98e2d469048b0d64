import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq, sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { jobRunQueue } from '../runs/queues.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { recordWorkerLiveness, registerWorker } from '../workers/index.ts'
import { workers } from '../workers/tables.ts'
import { checkDisk } from './check-disk.ts'
import { checkFiles, secretFilesOf } from './check-files.ts'
import { checkClock, checkProcess } from './check-process.ts'
import { checkPublicUrl, type Finding, runSystemChecks } from './index.ts'

let t: TestRuntime
beforeEach(async () => {
  t = await testRuntime()
})
afterEach(() => t.close())

const GIB = 1024 ** 3
const FACTS = { host: 'h', pid: 1, version: '0.2.0', ansibleVersion: '2.19.0', concurrency: 4, isolation: 'bubblewrap' as const }

async function findings(): Promise<Finding[]> {
  const { system } = await t.given.tenant()
  return runSystemChecks(system, async () => [])
}
const severityOf = async (check: Finding['check']) =>
  (await findings()).filter((one) => one.check === check).map((one) => one.severity)

test('a complete installation has no problems, and every problem has a next step', async () => {
  await registerWorker({ ...t.runtime }, { name: 'w1', ...FACTS })
  const all = await findings()
  expect(all.map(({ check, severity, nextStep }) => [check, severity, nextStep])).toEqual(
    ['DATABASE', 'MIGRATIONS', 'ENCRYPTION_KEY', 'WORKERS', 'ISOLATION', 'QUEUE'].map((check) => [check, 'OK', null]),
  )
})

test('only permitted callers see the findings', async () => {
  const { owner, installationAdmin } = await t.given.tenant()
  await expect(runSystemChecks(owner, async () => [])).rejects.toMatchObject({ code: 'FORBIDDEN' })
  expect(await runSystemChecks(installationAdmin, async () => [])).not.toHaveLength(0)
})

test('reports a database that does not answer and checks that fail', async () => {
  const { system } = await t.given.tenant()
  const db = { ...t.runtime.db, execute: () => Promise.reject(new Error('connection refused')) } as unknown as typeof t.runtime.db
  const failed = await runSystemChecks({ ...system, systemDb: db }, () => Promise.reject(new Error('the disk is gone')))
  expect(failed).toMatchObject([
    { severity: 'ERROR', message: 'The checks of API failed: the disk is gone' },
    { severity: 'ERROR', message: 'The checks of the database failed: connection refused' },
  ])
})

test('reports pending migrations', async () => {
  await t.asOwner(`delete from drizzle.__drizzle_migrations`)
  expect((await findings()).find(({ check }) => check === 'MIGRATIONS')).toMatchObject({
    severity: 'ERROR',
    message: expect.stringContaining('_initial'),
    nextStep: expect.stringContaining('backup'),
  })
})

test('reports missing, drained and outdated workers', async () => {
  expect(await severityOf('WORKERS')).toEqual(['ERROR'])
  const id = await registerWorker({ ...t.runtime }, { name: 'w1', ...FACTS })
  expect(await severityOf('WORKERS')).toEqual(['OK'])
  await t.runtime.db.update(workers).set({ drainedAt: sql`now()` })
  expect(await severityOf('WORKERS')).toEqual(['WARNING'])
  await t.runtime.db.update(workers).set({ drainedAt: null })
  await registerWorker({ ...t.runtime }, { name: 'w2', ...FACTS, version: '0.1.0' })
  expect(await severityOf('WORKERS')).toEqual(['WARNING'])
  await t.runtime.db.update(workers).set({ lastSeenAt: sql`now() - interval '1 minute'` }).where(eq(workers.id, id))
  expect(await severityOf('WORKERS')).toEqual(['OK'])
})

test('reports workers without isolation', async () => {
  const id = await registerWorker(
    { ...t.runtime },
    { name: 'w1', ...FACTS, isolation: 'none', isolationWeakness: 'bwrap is missing' },
  )
  expect((await findings()).find(({ check }) => check === 'ISOLATION')).toMatchObject({
    source: 'w1',
    severity: 'ERROR',
    message: expect.stringContaining('bwrap is missing'),
  })
  await t.runtime.db.update(workers).set({ isolation: 'uid' }).where(eq(workers.id, id))
  expect(await severityOf('ISOLATION')).toEqual(['WARNING'])
  await t.runtime.db.update(workers).set({ isolation: 'unavailable' }).where(eq(workers.id, id))
  expect((await findings()).find(({ check }) => check === 'ISOLATION')).toMatchObject({
    severity: 'WARNING',
    message: 'The worker has no sandbox (bwrap is missing): it rejects playbooks from bundles and git repositories.',
  })
})

test('includes what workers report of themselves', async () => {
  const id = await registerWorker({ ...t.runtime }, { name: 'w1', ...FACTS })
  const reported = { check: 'DISK', severity: 'ERROR', message: 'full', nextStep: 'Free space.' } as const
  await recordWorkerLiveness({ ...t.runtime }, { id, name: 'w1', ...FACTS, running: 0, findings: [reported] })
  expect((await findings()).filter(({ check }) => check === 'DISK')).toEqual([{ ...reported, source: 'w1' }])
})

test('reports queue entries that wait too long', async () => {
  const { system } = await t.given.tenant()
  await t.runtime.db.transaction((tx) => t.runtime.queue.send(tx, jobRunQueue, [{ id: 'x', tenantId: system.tenantId }]))
  expect(await severityOf('QUEUE')).toEqual(['OK'])
  const age = (seconds: number) =>
    t.runtime.db.execute(sql`update pgboss.job set created_on = now() - make_interval(secs => ${seconds})`)
  await age(120)
  expect(await severityOf('QUEUE')).toEqual(['WARNING'])
  await age(1200)
  expect(await severityOf('QUEUE')).toEqual(['ERROR'])
})

test('reports a missing key, and one that another master password protects', async () => {
  const own = (vault = t.runtime.vault) => checkProcess(t.runtime.db, { env: {}, privatePaths: [], dataPaths: [], vault })
  const key = (all: { check: string; severity: string }[]) => all.find(({ check }) => check === 'ENCRYPTION_KEY')?.severity
  expect(key(await own())).toBe('OK')
  expect(key(await own({ ...t.runtime.vault, newestVersion: () => Promise.reject(new Error('incorrect')) }))).toBe('ERROR')
  await t.runtime.db.execute(sql`delete from credential_keys`)
  expect(await severityOf('ENCRYPTION_KEY')).toEqual(['ERROR'])
})

test('reports settings without effect', async () => {
  const { vault, db } = t.runtime
  const all = await checkProcess(db, { env: { REDIS_DSN: 'redis://secret' }, privatePaths: [], dataPaths: [], vault })
  const found = all.find(({ check }) => check === 'CONFIGURATION')!
  expect(found).toMatchObject({ severity: 'WARNING', message: expect.stringContaining('REDIS_DSN') })
  expect(found.message).not.toContain('secret')
})

test('reports a clock that differs from the database', async () => {
  const at = (offsetMs: number) => checkClock(t.runtime.db, () => Date.now() + offsetMs)
  expect(await at(0)).toMatchObject({ severity: 'OK' })
  expect(await at(10_000)).toMatchObject({ severity: 'WARNING', message: expect.stringContaining('ahead of') })
  expect(await at(-60_000)).toMatchObject({ severity: 'ERROR', message: expect.stringContaining('behind') })
})

test('reports secrets that other users can read, and files of another user', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'muster-checks-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const path = join(dir, 'master-password')
  writeFileSync(path, 'x', { mode: 0o600 })
  const check = (uid?: number) => checkFiles([{ path, what: 'The file of the master password' }], uid)
  expect(await check()).toMatchObject([{ severity: 'OK' }])
  expect(await check(4_000_000)).toMatchObject([{ severity: 'WARNING', nextStep: `Run: chown 4000000 ${path}` }])
  chmodSync(path, 0o640)
  expect(await check()).toMatchObject([{ severity: 'ERROR', nextStep: `Run: chmod 0600 ${path}` }])
  chmodSync(dir, 0o755)
  expect(await checkFiles([{ path: dir, what: 'The data directory' }])).toMatchObject([
    { severity: 'ERROR', nextStep: `Run: chmod 0700 ${dir}` },
  ])
})

test('checks the files of all secrets, but not certificates', () => {
  const settings = {
    OIDC_CLIENT_SECRET_FILE: '/etc/muster/oidc',
    LDAP_CA_FILE: '/ca.pem',
    TLS_CERT_FILE: '/cert.pem',
    SMTP_PASSWORD_FILE: undefined,
  }
  expect(secretFilesOf({ DATABASE_URL_FILE: '/db', HOST: '::', AWS_WEB_IDENTITY_TOKEN_FILE: '/x' }, settings)).toEqual([
    { path: '/db', what: 'The file of DATABASE_URL' },
    { path: '/etc/muster/oidc', what: 'The file of OIDC_CLIENT_SECRET' },
  ])
})

test('reports full disks', async () => {
  const check = async (freeBytes: number) =>
    (await checkDisk(['/data'], async () => ({ freeBytes, totalBytes: 100 * GIB })))[0]!.severity
  expect(await check(50 * GIB)).toBe('OK')
  expect(await check(3 * GIB)).toBe('WARNING')
  expect(await check(GIB / 8)).toBe('ERROR')
  expect(await checkDisk([tmpdir()])).toHaveLength(1)
})

test('reports a public URL without TLS, and one that does not answer', async () => {
  expect(await checkPublicUrl('http://localhost:3000')).toMatchObject({ severity: 'OK' })
  expect(await checkPublicUrl('http://muster.example.org')).toMatchObject({ severity: 'ERROR' })
  expect(await checkPublicUrl('https://127.0.0.1:1')).toMatchObject({
    severity: 'WARNING',
    message: expect.stringContaining('ECONNREFUSED'),
  })
})
