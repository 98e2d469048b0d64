import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { alertDeliveries, createAlertRoute, testAlertRoute } from '@muster/core/alerts'
import { testConnections } from '@muster/core/connections'
import { addNode } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import { runJob } from '@muster/core/runs'
import { LOOPBACK, TEST_MASTER_PASSWORD, type TestRuntime, testRuntime } from '@muster/core/testing'
import { undrainWorker } from '@muster/core/workers'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createWebhookReceiver, VERIFIERS } from './testing/alert-receivers.ts'
import { createFakeAnsible, spawnWorker, type WorkerProcess } from './testing/spawn-worker.ts'

const SLOW = 60_000
let test: TestRuntime
let folder: string
let ansible: string
const started: WorkerProcess[] = []

beforeAll(async () => {
  test = await testRuntime({ vault: 'real' })
  folder = await mkdtemp(join(tmpdir(), 'muster-worker-'))
  ansible = await createFakeAnsible('2.19.4', join(folder, 'ansible-playbook'))
})
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL')
  await test.close()
  await rm(folder, { recursive: true })
})

function start(env: Record<string, string> = {}): WorkerProcess {
  const worker = spawnWorker({
    DATABASE_URL: test.url,
    ANSIBLE_PLAYBOOK: ansible,
    ANSIBLE_WORK_DIR: join(folder, 'runs'),
    ARTIFACT_DIR: join(folder, 'artifacts'),
    ...env,
  })
  started.push(worker)
  return worker
}

const METRICS_TOKEN = 'a-token-of-the-monitoring'

/** Address of a started worker. */
const addressOf = (worker: WorkerProcess) =>
  vi.waitFor(() => {
    const port = /"port":(\d+)/.exec(worker.output)?.[1]
    if (!port) throw new Error(`the worker did not come up: ${worker.output}`)
    return `http://127.0.0.1:${port}`
  }, 120_000)

const get = async (url: string, token?: string) => {
  const response = await fetch(url, { headers: token ? { authorization: `Bearer ${token}` } : {} })
  return { status: response.status, body: await response.text() }
}

describe('a worker', () => {
  it(
    'sends alerts to local targets when allowed',
    async () => {
      const receiver = await createWebhookReceiver(VERIFIERS.webhook('a webhook secret'))
      const { admin } = await test.given.tenant()
      const hook = { kind: 'webhook' as const, url: receiver.url, secret: 'a webhook secret' }
      const route = await createAlertRoute(admin, { name: 'hook', ...hook }, LOOPBACK)
      await testAlertRoute(admin, { id: route.id })
      const tokenFile = join(folder, 'metrics-token')
      await writeFile(tokenFile, `${METRICS_TOKEN}\n`)
      const worker = start({
        METRICS_TOKEN_FILE: tokenFile,
        LOCAL_TARGETS: '127.0.0.1',
        MUSTER_PUBLIC_URL: 'https://muster.test',
        REDIS_DSN: 'redis://redis',
      })
      const delivery = async () => (await test.runtime.db.select().from(alertDeliveries))[0]!
      await expect.poll(async () => (await delivery()).status, { timeout: 3 * SLOW }).toBe('DELIVERED')
      const metrics = `${await addressOf(worker)}/metrics`
      for (const token of [undefined, 'another-token-of-nobody']) expect((await get(metrics, token)).status).toBe(401)
      const { body } = await get(metrics, METRICS_TOKEN)
      expect(body).toContain('muster_alert_messages_total{kind="webhook",result="ok"} 1')
      expect(receiver.got.map(({ body }) => JSON.parse(body).link)).toEqual(['https://muster.test/alerts'])
      expect(worker.output).toMatch(/"level":"warn".*REDIS_DSN \(from the environment\) is not supported/)
      worker.child.kill('SIGTERM')
      await worker.ended
      await receiver.stop()
    },
    4 * SLOW,
  )

  it(
    'handles work, survives the loss of all connections, and stops cleanly during a test',
    async () => {
      const worker = start()
      const address = await addressOf(worker)
      expect(worker.output).toContain('"ansible":"2.19.4"')
      expect(await get(`${address}/healthz`)).toEqual({ status: 200, body: 'ok\n' })
      const ready = 'ready\nPlaybooks are not isolated (ANSIBLE_ISOLATION is none).\n'
      expect(await get(`${address}/readyz`)).toEqual({ status: 200, body: ready })

      const { operator, admin } = await test.given.tenant()
      const credential = await test.given.credential(admin, 'SSH_KEY')
      const add = (name: string, host: string, port = 22) => addNode(operator, { name, host, port, credentialId: credential.id })
      const resultOf = async (nodeId: string) => {
        const [requested] = await testConnections(operator, { nodeIds: [nodeId] })
        const isRequested = eq(schema.connectionTests.id, requested!.id)
        const result = async () => (await test.runtime.db.select().from(schema.connectionTests).where(isRequested))[0]!
        await expect.poll(async () => (await result()).finishedAt).not.toBeNull()
        return result()
      }
      const nowhere = await add('nowhere', 'nowhere.invalid')
      expect(await resultOf(nowhere.id)).toMatchObject({ isOk: false, error: expect.stringContaining('does not exist') })
      expect((await get(`${address}/metrics`)).status).toBe(404)

      await test.asOwner(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'muster-%'
          and application_name not like 'muster-test%' and application_name <> 'muster-queue-sender'`,
      )
      expect(await resultOf(nowhere.id)).toMatchObject({ isOk: false })
      await expect.poll(async () => (await get(`${address}/readyz`)).status).toBe(200)

      // A server that sends nothing keeps a test in progress while the worker stops.
      let touched = () => {}
      const reached = new Promise<void>((resolve) => {
        touched = resolve
      })
      const tarpit = createServer(() => touched())
      await new Promise<void>((resolve) => tarpit.listen(0, '127.0.0.1', resolve))
      const silent = await add('silent', '127.0.0.1', (tarpit.address() as { port: number }).port)
      const result = resultOf(silent.id)
      await reached
      worker.child.kill('SIGTERM')
      expect(await worker.ended).toBe(0)
      expect(await result).toMatchObject({ isOk: false, error: expect.stringContaining('worker was stopped') })
      tarpit.close()
    },
    SLOW,
  )

  it(
    'is listed, takes no work after SIGUSR2, and resumes when an admin undoes the drain',
    async () => {
      const { workers, jobRuns } = schema
      const worker = start({ JOB_RUNNER_CONCURRENCY: '3' })
      await addressOf(worker)
      const isWorker = eq(workers.pid, worker.child.pid!)
      const listed = async () => (await test.runtime.db.select().from(workers).where(isWorker))[0]
      expect(await listed()).toMatchObject({ ansibleVersion: '2.19.4', concurrency: 3, running: 0, drainedAt: null })
      worker.child.kill('SIGUSR2')
      await expect.poll(listed).toMatchObject({ drainedAt: expect.any(Date), drainedByName: 'a signal' })
      const { id } = (await listed())!
      await expect.poll(() => worker.output).toContain('it starts no more runs')

      const { admin, installationAdmin } = await test.given.tenant()
      const node = await addNode(admin, { name: 'idle', host: 'localhost', connectionType: 'local' })
      const run = await runJob(admin, { template: 'connectivity_check', nodeIds: [node.id] })
      const now = async () => (await test.runtime.db.select().from(jobRuns).where(eq(jobRuns.id, run.id)))[0]!
      expect((await now()).startedAt).toBeNull()
      await undrainWorker(installationAdmin, { id })
      await expect.poll(async () => (await now()).finishedAt).not.toBeNull()
      expect((await now()).claimedBy).toBe((await listed())!.name)
      worker.child.kill('SIGTERM')
      expect(await worker.ended).toBe(0)
      expect(await listed()).toBeUndefined()
    },
    SLOW,
  )

  it.runIf(process.platform === 'linux').each([
    ['a descriptor', {}],
    ['the environment', { CREDENTIAL_MASTER_PASSWORD: TEST_MASTER_PASSWORD, CREDENTIAL_MASTER_PASSWORD_FD: '' }],
  ])(
    'hides the master password from %s from ansible-playbook',
    async (way, env) => {
      const seen = join(folder, `seen by ${way}`)
      const spy = join(folder, `spy on ${way}`)
      const says = `#!/bin/sh\ncase "$1" in --version) echo 'ansible-playbook [core 2.19.4]' ;; *) { cat /proc/$$/environ; ls -l /proc/$$/fd; echo; echo end; } > '${seen}' ;; esac\n`
      await writeFile(spy, says)
      await chmod(spy, 0o755)
      const worker = start({ ANSIBLE_PLAYBOOK: spy, ...env })
      await addressOf(worker)
      const { admin } = await test.given.tenant()
      const node = await addNode(admin, { name: 'here', host: 'localhost', connectionType: 'local' })
      await runJob(admin, { template: 'connectivity_check', nodeIds: [node.id] })
      await expect.poll(() => readFileSync(seen, 'latin1')).toMatch(/end\n$/)
      const shown = readFileSync(seen, 'latin1')
      expect(shown).not.toContain(TEST_MASTER_PASSWORD)
      expect(shown).not.toContain('CREDENTIAL_')
      // The initial environment of a process stays readable for its user, hence the descriptor.
      const own = readFileSync(`/proc/${worker.child.pid}/environ`, 'latin1')
      expect(own.includes(TEST_MASTER_PASSWORD)).toBe(way === 'the environment')
      worker.child.kill('SIGTERM')
      expect(await worker.ended).toBe(0)
    },
    SLOW,
  )

  it(
    'waits for its database and stops on a signal meanwhile',
    async () => {
      const worker = start({ DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' })
      await expect.poll(() => worker.output).toContain('waiting for the database')
      worker.child.kill('SIGTERM')
      expect(await worker.ended).toBe(0)
    },
    SLOW,
  )

  it(
    'reports configuration errors and does not start',
    async () => {
      const workers = [
        start({ DATABASE_URL: 'mysql://somewhere', SSH_CONCURRENCY: 'many' }),
        start({ ANSIBLE_PLAYBOOK: join(folder, 'missing') }),
        start({ ANSIBLE_PLAYBOOK: await createFakeAnsible('2.12.1', join(folder, 'old')) }),
        start({ CREDENTIAL_MASTER_PASSWORD: 'not the one it was', CREDENTIAL_MASTER_PASSWORD_FD: '' }),
      ]
      expect(await Promise.all(workers.map((worker) => worker.ended))).toEqual([1, 1, 1, 1])
      const outputs = workers.map((worker) => worker.output)
      expect(outputs[0]).toMatch(/DATABASE_URL \(from the environment\): must look like postgres/)
      expect(outputs[0]).toMatch(/SSH_CONCURRENCY \(from the environment\)/)
      expect(outputs[1]).toMatch(/There is no .*missing\. Install ansible-core/)
      expect(outputs[2]).toMatch(/ansible-core 2\.12\.1 is too old/)
      expect(outputs[3]).toMatch(/master password is incorrect/)
      for (const text of outputs) expect(text).not.toMatch(/\n\s+at /)
    },
    SLOW,
  )
})
