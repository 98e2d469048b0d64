import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
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
import { saltFolders, startSalt, type TestSalt } from '../../testing/salt.ts'
import { spawnWorker, type WorkerProcess } from '../../testing/spawn-worker.ts'

const PLAYBOOKS = fileURLToPath(new URL('../../../../../playbooks', import.meta.url))
const SHIPPED_STATES = fileURLToPath(new URL('../../../../../docs/salt', import.meta.url))
const LONG = { timeout: 600_000, interval: 300 }
const NAMES = ['ctl', 'cpu-1', 'cpu-2', 'cpu-3']

describe.runIf(canRunSlurm() && process.env.SALT)('a cluster with packages from Salt', () => {
  let lab: OwnedLab
  let salt: TestSalt
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
      LOCAL_TARGETS: `127.0.0.1:${salt.port}`,
    })
    workers.add(worker)
    await vi.waitFor(() => expect(worker.output).toContain('the worker is ready'), LONG)
  }
  async function killWorker(): Promise<void> {
    const [worker] = workers
    workers.delete(worker!)
    worker!.child.kill('SIGKILL')
    await worker!.ended
    // The claim of the lost worker would expire after a minute.
    await t.runtime.db.execute(sql`update slurm_operations set claimed_until = now() where claimed_until is not null`)
  }
  const operation = async ({ id }: SlurmOperation): Promise<SlurmOperation> =>
    (await t.runtime.db.select().from(slurmOperations).where(eq(slurmOperations.id, id)))[0]!
  async function ended(row: SlurmOperation) {
    await vi.waitFor(async () => expect((await operation(row)).finishedAt).not.toBeNull(), LONG)
    const { status, error } = await operation(row)
    const nodes = await t.runtime.db
      .select()
      .from(slurmOperationNodes)
      .where(eq(slurmOperationNodes.operationId, row.id))
      .orderBy(asc(slurmOperationNodes.name))
    return { status, error, nodes }
  }
  const on = async (node: string, command: string) => (await lab.node(node).exec(['sh', '-c', command])).stdout.trim()
  /** What is left of Slurm on a node. */
  const traces = (node: string) => on(node, 'ls -d /etc/munge/munge.key /usr/sbin/slurmd /usr/sbin/munged 2>/dev/null')
  /** How often a state was applied on a node, as the state itself has counted. */
  const applied = async (node: string) => Number(await on(node, 'cat /var/tmp/applied 2>/dev/null | wc -l'))

  /** What the site adds to the shipped state. */
  const writeState = (more: string) => {
    const file = path.join(folder, 'states/slurm/node.sls')
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, `${readFileSync(path.join(SHIPPED_STATES, 'slurm/node.sls'), 'utf8')}\n${more}`)
  }
  async function scaleOut(...names: string[]): Promise<SlurmOperation> {
    const request = { clusterId, nodeIds: names.map(id) }
    const { fingerprint } = await previewSlurmScaleOut(fixture.admin, request)
    return scaleOutSlurmCluster(fixture.admin, { ...request, fingerprint, reason: 'test' })
  }
  /** Waits until Salt has a job of an operation. */
  const started = (row: SlurmOperation) =>
    vi.waitFor(async () => {
      const [job] = (await operation(row)).saltJobs
      expect(job).toBeDefined()
      return job!
    }, LONG)

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'muster-salt-install-'))
    lab = await createLab({
      ...{ nodes: NAMES.map((name) => ({ name, profile: 'cpu' as const })), bastion: false, mode: 'namespaces' },
      folders: saltFolders(),
    })
    repository = await serveSlurmPackages(lab)
    salt = await startSalt({ address: lab.hostAddress, fileRoots: [path.join(folder, 'states'), SHIPPED_STATES] })
    for (const name of NAMES) {
      await salt.startMinionOn(lab.node(name))
      await salt.accept(name)
    }
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
      expect(rows.map(({ status }) => status)).toEqual(NAMES.map(() => 'READY'))
    }, LONG)
  }, 600_000)
  afterAll(async () => {
    for (const { child } of workers) child.kill('SIGKILL')
    await salt?.stop()
    await repository?.close()
    await t?.close()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  it('is created with the shipped state', { timeout: 900_000 }, async () => {
    const login = { host: '127.0.0.1', port: salt.port, username: 'muster', password: salt.sharedSecret }
    const { id: saltCredentialId } = await createCredential(fixture.admin, { name: 'salt', kind: 'SALT', ...login })
    const row = await createSlurmCluster(fixture.admin, {
      name: 'prod',
      controllerNodeId: id('ctl'),
      computeNodeIds: [id('cpu-1')],
      repositoryUrl: repository.url,
      extraLines: [...SLURM_NODE_LIMITS],
      ...{ saltCredentialId, saltEauth: 'sharedsecret', saltCaCertificate: salt.caCertificate, saltInstalls: true },
      reason: 'test',
    })
    clusterId = row.clusterId
    const { nodes, ...result } = await ended(row)
    expect(result).toEqual({ status: 'SUCCEEDED', error: null })
    expect(nodes).toMatchObject([{ name: 'cpu-1', phase: 'IN_SERVICE', message: null }])
    expect(nodes[0]!.checks).toContainEqual({
      ...{ name: 'slurm.node slurm_packages', state: 'OK' },
      message: '3 targeted packages were installed/updated.',
    })
    expect(await on('ctl', "sinfo --noheader --format='%P %T %N'")).toBe('batch* idle cpu-1')
    expect(await on('cpu-1', 'stat -c "%U %a" /etc/munge/munge.key')).toBe('munge 400')
    const { saltJobs } = await operation(row)
    expect(saltJobs.map(({ key, failed }) => [key, failed])).toEqual([
      ['controller', {}],
      ['compute', {}],
    ])
    const key = await on('cpu-1', 'head -c 40 /etc/munge/munge.key')
    expect(key).toMatch(/^[\w+/=-]{40}$/)
    expect(await on('cpu-1', `grep -rlF -e "${key}" /etc/munge /etc/salt /var/cache/salt /var/log/salt`)).toBe(
      '/etc/munge/munge.key',
    )
  })

  it('leaves out a node whose state fails, and starts no job twice after a kill', { timeout: 900_000 }, async () => {
    writeState(`
count:
  cmd.run:
    - name: echo >> /var/tmp/applied; sleep 8
{%- if grains['id'] == 'cpu-3' and node.get('state') == 'present' %}
scratch_disk:
  test.fail_without_changes:
    - name: the disk is read-only
    - require_in:
      - pkg: slurm_packages
{%- endif %}
`)
    const row = await scaleOut('cpu-2', 'cpu-3')
    const job = await started(row)
    await vi.waitFor(async () => expect(await applied('cpu-2')).toBe(1), LONG)
    await killWorker()
    await startWorker()
    const { nodes, ...result } = await ended(row)
    expect(result).toEqual({ status: 'PARTIAL', error: null })
    expect(nodes[0]).toMatchObject({ name: 'cpu-2', phase: 'IN_SERVICE', message: null })
    expect(nodes[1]).toMatchObject({
      ...{ name: 'cpu-3', isFailed: true },
      message: 'Salt could not apply slurm.node. scratch_disk: Failure!',
    })
    const { saltJobs } = await operation(row)
    expect(saltJobs.find(({ key }) => key === 'compute')).toMatchObject({ jid: job.jid, minions: job.minions })
    // cpu-3 is cleaned up, which applies the state again.
    expect([await applied('cpu-2'), await applied('cpu-3')]).toEqual([1, 2])
    expect(await traces('cpu-3')).toBe('')
    expect(await on('ctl', "sinfo --noheader --Node --format='%N %T' | sort")).toBe('cpu-1 idle\ncpu-2 idle')
  })

  it('undoes a canceled scale-out after the state that runs', { timeout: 900_000 }, async () => {
    writeState('wait:\n  cmd.run:\n    - name: echo >> /var/tmp/applied; sleep 8\n')
    const before = await applied('cpu-3')
    const row = await scaleOut('cpu-3')
    await started(row)
    await vi.waitFor(async () => expect(await applied('cpu-3')).toBe(before + 1), LONG)
    await cancelSlurmOperation(fixture.admin, { id: row.id })
    expect(await ended(row)).toMatchObject({ status: 'CANCELED' })
    expect(await applied('cpu-3')).toBe(before + 2)
    expect(await traces('cpu-3')).toBe('')
  })

  it('removes the packages in a scale-in', { timeout: 900_000 }, async () => {
    const { fingerprint } = await previewSlurmScaleIn(fixture.admin, { clusterId, hostlist: 'cpu-2' })
    const request = { clusterId, hostlist: 'cpu-2', deadlineSeconds: 60, fingerprint, reason: 'test' }
    expect(await ended(await scaleInSlurmCluster(fixture.admin, request))).toMatchObject({
      status: 'SUCCEEDED',
      nodes: [{ name: 'cpu-2', phase: 'CLEANED', message: null }],
    })
    expect(await traces('cpu-2')).toBe('')
  })
})
