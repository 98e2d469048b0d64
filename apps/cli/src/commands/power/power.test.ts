import { X509Certificate } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type RedfishEmulator, startRedfishEmulator } from '@muster/lab'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { LOOPBACK } from '../../../../api/src/testing/api.ts'
import { createCertificate } from '../../../../worker/src/testing/slurmrestd.ts'
import { createFakeAnsible, spawnWorker, type WorkerProcess } from '../../../../worker/src/testing/spawn-worker.ts'
import { muster, startTestApi, type TestApi } from '../../testing/muster.ts'

// A worker reads a state again after two seconds.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 })
const WAIT = { timeout: 60_000 }

let t: TestApi
let bmc: RedfishEmulator
let worker: WorkerProcess
let folder: string
const startWorker = async () => {
  worker = spawnWorker({
    ...{ DATABASE_URL: t.url, LOCAL_TARGETS: '127.0.0.1', ARTIFACT_DIR: path.join(folder, 'artifacts') },
    ...{ ANSIBLE_PLAYBOOK: path.join(folder, 'ansible'), ANSIBLE_WORK_DIR: path.join(folder, 'runs') },
  })
  await vi.waitFor(() => expect(worker.output).toContain('the worker is ready'), WAIT)
}

/** Three nodes, of which the last one has a BMC at a port where nothing listens, and a worker process. */
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-power-'))
  await createFakeAnsible('2.19.0', path.join(folder, 'ansible'))
  t = await startTestApi({ vault: 'real', localTargets: LOOPBACK })
  const certificate = createCertificate()
  bmc = await startRedfishEmulator({ certificate, systems: 2 })
  const { admin } = await t.given.tenant()
  await t.signIn(admin)
  await t.given.fleet(admin, { nodes: 3, prefix: 'p' })
  const { name } = await t.given.credential(admin, 'BMC')
  const { fingerprint256 } = new X509Certificate(certificate.cert)
  for (const i of [1, 2, 3]) {
    const at = `--address 127.0.0.1 --port ${i === 3 ? 1 : bmc.port} --system /redfish/v1/Systems/${i}`
    const set = await muster([...`bmc set p00${i} ${at} --fingerprint ${fingerprint256} --credential`.split(' '), name])
    expect(set).toMatchObject({ code: 0 })
  }
  await startWorker()
})
afterAll(async () => {
  worker?.child.kill('SIGKILL')
  await worker?.ended
  await bmc?.close()
  await t?.close()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(() => {
  bmc.readsInTransition = 0
  bmc.settle()
})

const resets = () => bmc.systems.map((system) => system.resets)
const openRun = async () => {
  const { out } = await muster('power list -o json')
  return (JSON.parse(out) as { id: string; status: string }[])[0]!
}

it('powers nodes on and cycles them, and prints the result of each; a BMC that is not reachable is UNKNOWN', async () => {
  const on = await muster('power on p00[1-3] --reason test --delay 0 --yes')
  expect(on.out).toMatch(/^p001 +DONE +ON +OFF +/m)
  expect(on.out).toMatch(/^p002 +DONE +ON +OFF +/m)
  expect(on.out).toMatch(/^p003 +UNREACHABLE .*The BMC 127\.0\.0\.1 cannot be reached/m)
  expect(on.code).not.toBe(0)
  expect((await muster('power cycle p00[1-2] --reason test --delay 0 --yes')).out).toMatch(/^p001 +DONE +ON +ON +/m)
  expect(resets()).toEqual([
    ['On', 'PowerCycle'],
    ['On', 'PowerCycle'],
  ])
  const status = await muster('power status p00[1-3] --refresh')
  expect(status.out).toMatch(/^p001 +ON /m)
  expect(status.out).toMatch(/^p003 +UNKNOWN .*cannot be reached/m)
  expect((await muster('power list')).out).toMatch(/ ON +PARTIAL +3 +.*1 UNREACHABLE/)
})

it('asks before it acts, and refuses nodes without a BMC', async () => {
  const asked = await muster('power off p001 --reason test', 'no\n')
  expect(asked.err).toContain('Shut down 1 node: p001; at most 10 at once, 0 s apart.')
  expect(asked.code).not.toBe(0)
  expect(resets()[0]).not.toContain('GracefulShutdown')
  await muster('node add spare=10.0.0.9')
  expect(await muster('power on spare --reason test --yes')).toMatchObject({
    code: 5,
    err: expect.stringContaining('The node spare has no BMC. Set it with `muster bmc set spare`.'),
  })
})

it('shows sensors, events, and what does not belong to the node', async () => {
  expect((await muster('power sensors p001 --refresh')).out).toMatch(/^CPU 1 +Temperature +45\.5 Cel +OK *$/m)
  expect((await muster('power events p001')).out).toMatch(/Critical +Fan 3 \[2J lost/)
  expect((await muster('node update p001 --interface eth0=02:00:5e:99:00:01')).code).toBe(0)
  const conflict = 'The BMC reports the MACs 02:00:5e:30:00:01; the node has 02:00:5e:99:00:01.'
  expect((await muster('power status p001')).out).toContain(conflict)
  expect((await muster('node get p001')).out).toContain(conflict)
})

it('cancels a power run; the command that was sent is verified', async () => {
  bmc.readsInTransition = Number.POSITIVE_INFINITY
  const before = resets().flat().length
  const started = await muster('power force-off p00[1-2] --reason test --parallel 1 --yes --no-wait')
  await expect.poll(() => resets().flat().length, WAIT).toBe(before + 1)
  expect((await muster(['power', 'cancel', started.out.trim()])).out).toBe('CANCELING\n')
  bmc.settle()
  await expect.poll(async () => (await openRun()).status, WAIT).toBe('CANCELED')
  expect((await muster('power list')).out).toMatch(/ FORCE_OFF +CANCELED +2 +(1 DONE, 1 NOT_SENT|1 NOT_SENT, 1 DONE) /)
  expect(resets().flat()).toHaveLength(before + 1)
})

it('continues after the worker was killed, and does not repeat the cycle', async () => {
  await muster('power on p00[1-2] --reason test --delay 0 --yes')
  bmc.readsInTransition = Number.POSITIVE_INFINITY
  const cycles = () =>
    resets()
      .flat()
      .filter((type) => type === 'PowerCycle').length
  const before = cycles()
  const started = await muster('power cycle p00[1-2] --reason test --delay 0 --yes --no-wait')
  expect(started.code).toBe(0)
  await expect.poll(cycles, WAIT).toBe(before + 2)
  worker.child.kill('SIGKILL')
  await worker.ended
  bmc.settle()
  await t.runtime.db.$client.query(`update power_runs set claimed_until = now() - interval '1 second' where finished_at is null`)
  await startWorker()
  await expect.poll(async () => (await openRun()).status, WAIT).toBe('SUCCEEDED')
  expect(cycles()).toBe(before + 2)
})
