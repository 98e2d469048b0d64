import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { slurmClusters, slurmNodes } from '@muster/core/clusters'
import { createCredential } from '@muster/core/credentials'
import { discoverNodes } from '@muster/core/discoveries'
import { addNode, computeNodes } from '@muster/core/nodes'
import { cancelSlurmOperation, type SlurmOperation, slurmOperationNodes, slurmOperations } from '@muster/core/slurm-operations'
import {
  createSlurmCluster,
  previewSlurmScaleIn,
  previewSlurmScaleOut,
  scaleInSlurmCluster,
  scaleOutSlurmCluster,
} from '@muster/core/slurm-scaling'
import { type TenantFixture, type TestRuntime, testRuntime } from '@muster/core/testing'
import { canRunSlurm, type OwnedLab, SLURM_NODE_LIMITS, type SlurmRepository, serveSlurmPackages } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { asc, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { pinnedKey } from '../../testing/node-access.ts'
import { realAnsible } from '../../testing/run-fixture.ts'
import { spawnWorker, type WorkerProcess } from '../../testing/spawn-worker.ts'

const PLAYBOOKS = fileURLToPath(new URL('../../../../../playbooks', import.meta.url))
const LONG = { timeout: 900_000, interval: 300 }
const CONTROLLER = 'ctl'

describe.runIf(canRunSlurm())('a managed cluster', () => {
  let lab: OwnedLab
  let repository: SlurmRepository
  let t: TestRuntime
  let fixture: TenantFixture
  let folder: string
  let clusterId: string
  const workers = new Set<WorkerProcess>()
  const ids = new Map<string, string>()
  const id = (name: string) => ids.get(name)!

  async function startWorker(): Promise<void> {
    const worker = spawnWorker({
      DATABASE_URL: t.url,
      ANSIBLE_PLAYBOOK: realAnsible(),
      ANSIBLE_PLAYBOOK_REPO_PATH: PLAYBOOKS,
      ANSIBLE_WORK_DIR: path.join(folder, `runs-${workers.size}-${Date.now()}`),
      ARTIFACT_DIR: path.join(folder, 'artifacts'),
    })
    workers.add(worker)
    await vi.waitFor(() => expect(worker.output).toContain('the worker is ready'), LONG)
  }
  async function killWorker(): Promise<void> {
    const [worker] = workers
    workers.delete(worker!)
    worker!.child.kill('SIGKILL')
    await worker!.ended
    // Claims of the lost worker would expire after a minute, its runs after half of one.
    const { db } = t.runtime
    await db.execute(sql`update slurm_operations set claimed_until = now() where claimed_until is not null`)
    await db.execute(
      sql`update job_runs set worker_seen_at = now() - interval '1 hour' where finished_at is null and started_at is not null`,
    )
  }
  const operation = async (id: string): Promise<SlurmOperation> =>
    (await t.runtime.db.select().from(slurmOperations).where(eq(slurmOperations.id, id)))[0]!
  const nodesOf = (id: string) =>
    t.runtime.db
      .select()
      .from(slurmOperationNodes)
      .where(eq(slurmOperationNodes.operationId, id))
      .orderBy(asc(slurmOperationNodes.name))
  async function ended({ id }: SlurmOperation) {
    await vi.waitFor(async () => expect((await operation(id)).finishedAt).not.toBeNull(), LONG)
    const { status, error } = await operation(id)
    return { status, error, nodes: (await nodesOf(id)).map(({ name, phase, message }) => [name, phase, message]) }
  }
  const reached = ({ id }: SlurmOperation, step: string) =>
    vi.waitFor(async () => expect((await operation(id)).steps.map(({ name }) => name)).toContain(step), LONG)
  const on = async (node: string, command: string) => (await lab.node(node).exec(['sh', '-c', command])).stdout.trim()

  async function scaleOut(...names: string[]): Promise<SlurmOperation> {
    const request = { clusterId, nodeIds: names.map(id) }
    const { fingerprint } = await previewSlurmScaleOut(fixture.admin, request)
    return scaleOutSlurmCluster(fixture.admin, { ...request, fingerprint, reason: 'test' })
  }
  async function scaleIn(hostlist: string, deadlineSeconds = 60): Promise<SlurmOperation> {
    const { fingerprint } = await previewSlurmScaleIn(fixture.admin, { clusterId, hostlist })
    return scaleInSlurmCluster(fixture.admin, { clusterId, hostlist, fingerprint, deadlineSeconds, reason: 'test' })
  }
  /** Times of the lines that the surviving job has written. */
  const lines = async () => (await on('cpu-1', 'cat /tmp/lines')).split('\n').map(Number)
  async function expectNoGap(): Promise<void> {
    const times = await lines()
    const gaps = times.slice(1).map((time, index) => time - times[index]!)
    expect(Math.max(...gaps)).toBeLessThanOrEqual(3)
    await vi.waitFor(async () => expect((await lines()).length).toBeGreaterThan(times.length), LONG)
  }

  /** The password of the database is in no output of a run and no argument of a process. */
  async function expectNoPassword(password: string): Promise<void> {
    expect(password).toMatch(/^[\w-]{32}$/)
    const { rows } = await t.runtime.db.execute(
      sql`select 1 from job_run_events e where e::text like ${`%${password}%`} union select 1 from job_runs r where r::text like ${`%${password}%`}`,
    )
    expect(rows).toEqual([])
    expect(await on(CONTROLLER, 'cat /proc/[0-9]*/cmdline | tr "\\0" " "')).not.toContain(password)
  }

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'muster-managed-'))
    const names = [CONTROLLER, 'cpu-1', 'cpu-2', 'cpu-3', 'cpu-4', 'cpu-10']
    lab = await createLab({ nodes: names.map((name) => ({ name, profile: 'cpu' })), bastion: false, mode: 'namespaces' })
    repository = await serveSlurmPackages(lab)
    t = await testRuntime({ vault: 'real' })
    fixture = await t.given.tenant()
    const { username, privateKey } = lab.credentials.sshKey
    const key = await createCredential(fixture.admin, { name: 'lab key', kind: 'SSH_KEY', username, privateKey })
    for (const node of lab.nodes) {
      const { name, host, port } = node
      const row = await addNode(fixture.admin, { name, host, port, credentialId: key.id, hostKey: pinnedKey(node) })
      ids.set(name, row.id)
    }
    await startWorker()
    await discoverNodes(fixture.admin, { nodeIds: [...ids.values()] })
    await vi.waitFor(async () => {
      const rows = await t.runtime.db.select().from(computeNodes)
      expect(rows.map(({ status }) => status)).toEqual(names.map(() => 'READY'))
    }, LONG)
  }, 300_000)
  afterAll(async () => {
    for (const { child } of workers) child.kill('SIGKILL')
    await repository?.close()
    await t?.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('is created from READY nodes', { timeout: 900_000 }, async () => {
    const row = await createSlurmCluster(fixture.admin, {
      name: 'prod',
      controllerNodeId: id(CONTROLLER),
      computeNodeIds: [id('cpu-1'), id('cpu-10')],
      maxNodes: 4,
      accounting: { kind: 'MANAGED', nodeId: id(CONTROLLER) },
      repositoryUrl: repository.url,
      extraLines: [...SLURM_NODE_LIMITS, 'MessageTimeout=5'],
      reason: 'test',
    })
    clusterId = row.clusterId
    expect(await ended(row)).toEqual({
      status: 'SUCCEEDED',
      error: null,
      nodes: [
        ['cpu-1', 'IN_SERVICE', null],
        ['cpu-10', 'IN_SERVICE', null],
      ],
    })
    expect(await on(CONTROLLER, "sinfo --noheader --format='%P %T %N'")).toBe('batch* idle cpu-[1,10]')
    const finished = await on(CONTROLLER, 'sbatch --parsable --chdir=/tmp --output=/dev/null --wrap=true')
    await vi.waitFor(
      async () =>
        expect(await on(CONTROLLER, `sacct --jobs=${finished} --noheader --parsable2 --format=JobID,State,Cluster`)).toContain(
          `${finished}|COMPLETED|prod`,
        ),
      LONG,
    )
    expect(await on(CONTROLLER, 'stat --format="%U %a" /etc/slurm/slurmdbd.conf')).toBe('slurm 600')
    expect(await on(CONTROLLER, 'sacctmgr --noheader --parsable2 list cluster format=Cluster')).toBe('prod')
    await expectNoPassword(await on(CONTROLLER, 'sed -n s/^StoragePass=//p /etc/slurm/slurmdbd.conf'))
    const script = '#!/bin/sh\nwhile :; do date +%s >> /tmp/lines; sleep 1; done\n'
    await lab.node(CONTROLLER).exec(['sbatch', '--nodelist=cpu-1', '--chdir=/tmp', '--output=/dev/null'], { input: script })
    await vi.waitFor(async () => expect((await lines()).length).toBeGreaterThan(2), LONG)
  })

  it('grows while a worker is killed at steps, and not beyond its limit', { timeout: 900_000 }, async () => {
    const row = await scaleOut('cpu-2', 'cpu-3')
    for (const step of ['install Slurm', 'add the nodes to the configuration', 'start slurmd', 'run a test job on each node']) {
      await reached(row, step)
      await killWorker()
      await startWorker()
    }
    expect(await ended(row)).toEqual({
      status: 'SUCCEEDED',
      error: null,
      nodes: [
        ['cpu-2', 'IN_SERVICE', null],
        ['cpu-3', 'IN_SERVICE', null],
      ],
    })
    expect(await on(CONTROLLER, "sinfo --noheader --Node --format='%N %T' | sort")).toBe(
      'cpu-1 mixed\ncpu-10 idle\ncpu-2 idle\ncpu-3 idle',
    )
    await expectNoGap()
    await expect(scaleOut('cpu-4')).rejects.toThrow('would have 5 nodes; its limit is 4')
  })

  it('shrinks by exactly the named nodes while a worker is killed at steps', { timeout: 900_000 }, async () => {
    const row = await scaleIn('cpu-3')
    for (const step of ['drain', 'remove the nodes from the configuration', 'remove Slurm from the nodes']) {
      await reached(row, step)
      await killWorker()
      await startWorker()
    }
    expect(await ended(row)).toMatchObject({ status: 'SUCCEEDED', nodes: [['cpu-3', 'CLEANED', null]] })
    expect(await on(CONTROLLER, "sinfo --noheader --Node --format='%N %T' | sort")).toBe('cpu-1 mixed\ncpu-10 idle\ncpu-2 idle')
    expect(await on('cpu-3', 'ls -d /etc/munge/munge.key /etc/slurm /usr/sbin/slurmd')).toBe('')
    const [node] = await t.runtime.db
      .select()
      .from(computeNodes)
      .where(eq(computeNodes.id, id('cpu-3')))
    expect(node!.status).toBe('READY')
    await expectNoGap()
  })

  it('keeps a node whose job outlives the deadline, without the drain', { timeout: 900_000 }, async () => {
    const row = await scaleIn('cpu-[1-2]', 5)
    expect(await ended(row)).toMatchObject({
      status: 'PARTIAL',
      nodes: [
        ['cpu-1', 'UNDRAINED', expect.stringMatching(/^The deadline has passed. Jobs run on it: \d+. It stays in the cluster.$/)],
        ['cpu-2', 'CLEANED', null],
      ],
    })
    expect(await on(CONTROLLER, "sinfo --noheader --Node --format='%N %T %E' | sort")).toBe('cpu-1 mixed none\ncpu-10 idle none')
    await expectNoGap()
  })

  it('leaves a node out that fails, with its reason, and undoes a canceled scale-out', { timeout: 900_000 }, async () => {
    const listen = 'import socket, time; s = socket.create_server(("", 6818)); time.sleep(600)'
    await on('cpu-4', `setsid python3 -c '${listen}' </dev/null >/dev/null 2>&1 &`)
    const partial = await scaleOut('cpu-3', 'cpu-4')
    expect(await ended(partial)).toMatchObject({
      status: 'PARTIAL',
      nodes: [
        ['cpu-3', 'IN_SERVICE', null],
        ['cpu-4', 'CHECKED', expect.stringContaining('another program uses port 6818')],
      ],
    })
    const row = await scaleOut('cpu-2')
    await reached(row, 'start slurmd')
    await cancelSlurmOperation(fixture.admin, { id: row.id })
    expect(await ended(row)).toMatchObject({ status: 'CANCELED' })
    expect(await on(CONTROLLER, "sinfo --noheader --Node --format='%N' | sort")).toBe('cpu-1\ncpu-10\ncpu-3')
    expect(await on('cpu-2', 'ls -d /etc/munge/munge.key /usr/sbin/slurmd')).toBe('')
    const [cluster] = await t.runtime.db.select().from(slurmClusters).where(eq(slurmClusters.id, clusterId))
    expect(cluster!.kind).toBe('MANAGED')
    await vi.waitFor(
      async () =>
        expect((await t.runtime.db.select().from(slurmNodes)).map(({ name }) => name).sort()).toEqual([
          'cpu-1',
          'cpu-10',
          'cpu-3',
        ]),
      LONG,
    )
    await expectNoGap()
  })
})
