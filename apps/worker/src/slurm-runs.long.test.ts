import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addSlurmCluster, refreshSlurmCluster, type SlurmCluster } from '@muster/core/clusters'
import { createCredential } from '@muster/core/credentials'
import { addNode } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import { type JobRun, runJob } from '@muster/core/runs'
import { testRuntime } from '@muster/core/testing'
import { canRunSlurm } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { asc, eq, isNotNull, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { pinnedKey } from './testing/node-access.ts'
import { realAnsible } from './testing/run-fixture.ts'
import { spawnWorker, type WorkerProcess } from './testing/spawn-worker.ts'

const CONTROLLER = 'slurm-ctl-01'
const NODES = ['cpu-01', 'cpu-02', 'cpu-03']
const LONG = { timeout: 120_000, interval: 200 }
/** slurmctld marks a resumed node with * until it has answered a ping. */
const IDLE = /^idle\*?\|none$/
/** Continues when the file exists, so that a test can kill the worker in the middle of it. */
const PLAYBOOK = JSON.stringify([
  {
    hosts: 'all',
    gather_facts: false,
    tasks: [
      { raw: 'test ! -e /tmp/muster-fail' },
      { raw: 'for i in $(seq 600); do test -e /tmp/muster-go && break; sleep 0.1; done; date +%s.%N > /tmp/muster-changed' },
    ],
  },
])

describe.runIf(canRunSlurm())('runs over batches of a real cluster', () => {
  let lab: Awaited<ReturnType<typeof createLab>>
  let fixture: Awaited<ReturnType<typeof testRuntime>>
  let tenant: Awaited<ReturnType<(typeof fixture)['given']['tenant']>>
  let folder: string
  let worker: WorkerProcess
  let cluster: SlurmCluster

  beforeAll(async () => {
    ;[lab, fixture, folder] = await Promise.all([
      createLab({ nodes: NODES.map((name) => ({ name })), slurm: { config: { SlurmdTimeout: '300' } } }),
      testRuntime({ vault: 'real' }),
      mkdtemp(join(tmpdir(), 'muster-slurm-runs-')),
    ])
    await writeFile(join(folder, 'change.yml'), PLAYBOOK)
    tenant = await fixture.given.tenant()
    const { admin } = tenant
    const { username, privateKey } = lab.credentials.rootKey!
    const { id: credentialId } = await createCredential(admin, { name: 'root', kind: 'SSH_KEY', username, privateKey })
    const ids = new Map<string, string>()
    for (const { name, host, port, ...node } of lab.nodes)
      ids.set(
        name,
        (await addNode(admin, { name, host, port, credentialId, hostKey: pinnedKey({ name, host, port, ...node }) })).id,
      )
    const template = { tenantId: tenant.tenant.id, name: 'change', displayName: 'change', category: 'custom' } as const
    await fixture.runtime.db.insert(schema.jobTemplates).values({ ...template, playbookPath: 'change.yml', isIdempotent: true })
    await startWorker()
    cluster = await addSlurmCluster(admin, { name: 'lab', controllerNodeId: ids.get(CONTROLLER)! })
    await vi.waitFor(async () => {
      const rows = await fixture.runtime.db.select().from(schema.slurmNodes).where(isNotNull(schema.slurmNodes.nodeId))
      expect(rows).toHaveLength(3)
    }, LONG)
  })
  afterAll(async () => {
    worker?.child.kill('SIGKILL')
    await worker?.ended
    await fixture?.close()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  async function startWorker(): Promise<void> {
    worker = spawnWorker({
      DATABASE_URL: fixture.url,
      ANSIBLE_PLAYBOOK: realAnsible(),
      ANSIBLE_PLAYBOOK_REPO_PATH: folder,
      ANSIBLE_WORK_DIR: join(folder, 'runs'),
      ARTIFACT_DIR: join(folder, 'artifacts'),
    })
    await vi.waitFor(() => expect(worker.output).toContain('the worker is ready'), LONG)
  }
  /** Ends a worker without a chance to clean up, and starts another one. Its claims expire at once. */
  async function replaceWorker(): Promise<void> {
    worker.child.kill('SIGKILL')
    await worker.ended
    const { db } = fixture.runtime
    await db.execute(
      sql`update job_runs set worker_seen_at = now() - interval '1 minute' where started_at is not null and finished_at is null`,
    )
    await db.execute(sql`update slurm_actions set claimed_until = now() where finished_at is null and claimed_until is not null`)
    await db.execute(sql`update slurm_clusters set claimed_until = now() where claimed_until is not null`)
    await startWorker()
  }
  const slurm = async (...argv: string[]) => (await lab.slurm!.run(argv)).stdout.trim()
  const stateOf = (name: string) =>
    slurm('sinfo', '--noheader', `--nodes=${name},${CONTROLLER}`, '--Node', '--format=%T|%E', '--partition=batch')
  const onNode = async (name: string, script: string) => (await lab.node(name).exec(['sh', '-c', script])).stdout.trim()
  const start = (options: object = {}) =>
    runJob(tenant.admin, {
      template: 'change',
      limit: 'cpu-[01-03]',
      reason: 'new driver',
      slurm: { batchSize: 2, floorPercent: 0, ...options },
    })
  const rowOf = async ({ id }: JobRun) =>
    (await fixture.runtime.db.select().from(schema.jobRuns).where(eq(schema.jobRuns.id, id)))[0]!
  const batchesOf = ({ id }: JobRun) =>
    fixture.runtime.db
      .select()
      .from(schema.jobRunBatches)
      .where(eq(schema.jobRunBatches.jobRunId, id))
      .orderBy(asc(schema.jobRunBatches.number))
  /** Waits until the run is so, with refreshes at once instead of every 30 s. */
  const until = (check: () => Promise<void>) =>
    vi.waitFor(async () => {
      await refreshSlurmCluster(tenant.admin, { id: cluster.id })
      await check()
    }, LONG)

  test('a job ends undisturbed, killed workers are replaced, an own drain of an admin stays', LONG, async () => {
    await slurm('scontrol', 'update', 'nodename=cpu-03', 'state=drain', 'reason=fan')
    const job = await lab.slurm!.submit(
      'i=0; while ! test -e /tmp/job-stop; do i=$((i+1)); echo $i >> /tmp/job-lines; sleep 0.05; done; date +%s.%N > /tmp/job-end',
      ['--nodelist=cpu-01'],
    )
    await vi.waitFor(async () => expect(Number(await onNode('cpu-01', 'wc -l < /tmp/job-lines'))).toBeGreaterThan(1), LONG)
    await until(async () => expect(await fixture.runtime.db.select().from(schema.slurmJobs)).toHaveLength(1))

    const run = await start()
    await until(async () => expect((await batchesOf(run))[0]).toMatchObject({ phase: 'RUNNING' }))
    await vi.waitFor(async () => {
      const [batch] = await batchesOf(run)
      const [child] = await fixture.runtime.db.select().from(schema.jobRuns).where(eq(schema.jobRuns.id, batch!.childRunId!))
      expect(child!.ansibleStartedAt).not.toBeNull()
    }, LONG)
    expect(await stateOf('cpu-02')).toMatch(new RegExp(`^drained\\|run ${run.number}: new driver \\(muster `))
    await replaceWorker()
    for (const name of NODES) await onNode(name, 'touch /tmp/muster-go')
    await until(async () => expect((await batchesOf(run))[1]).toMatchObject({ phase: 'WAITING_FOR_JOBS' }))
    expect(await stateOf('cpu-02')).toMatch(IDLE)
    expect(await stateOf('cpu-03')).toBe('drained|fan')
    expect(await stateOf('cpu-01')).toMatch(/^draining\|run /)
    await replaceWorker()
    expect((await batchesOf(run))[1]).toMatchObject({ childRunId: null })
    expect(await slurm('squeue', '--noheader', '--format=%T', `--jobs=${job}`)).toBe('RUNNING')
    await onNode('cpu-01', 'touch /tmp/job-stop')
    await until(async () => expect((await rowOf(run)).finishedAt).not.toBeNull())

    expect(await rowOf(run)).toMatchObject({ status: 'SUCCEEDED', hostsOk: 3, error: null })
    const [ended, changed] = (await onNode('cpu-01', 'cat /tmp/job-end /tmp/muster-changed')).split('\n').map(Number)
    expect(changed).toBeGreaterThan(ended!)
    const lines = (await onNode('cpu-01', 'cat /tmp/job-lines')).split('\n').map(Number)
    expect(lines).toEqual(lines.map((_, i) => i + 1))
    expect(await stateOf('cpu-01')).toMatch(IDLE)
    expect(await stateOf('cpu-03')).toBe('drained|fan')
  })

  test('a failed batch stops the run, which names what stays drained', LONG, async () => {
    await slurm('scontrol', 'update', 'nodename=cpu-03', 'state=resume')
    await onNode('cpu-01', 'touch /tmp/muster-fail')
    const run = await start()
    await until(async () => expect((await rowOf(run)).finishedAt).not.toBeNull())
    expect(await rowOf(run)).toMatchObject({
      status: 'PARTIAL',
      error: expect.stringContaining('Still drained by this run: cpu-01.'),
    })
    expect(await stateOf('cpu-01')).toMatch(/^drained\|run /)
    expect([await stateOf('cpu-02'), await stateOf('cpu-03')]).toEqual([expect.stringMatching(IDLE), expect.stringMatching(IDLE)])
    expect(await batchesOf(run)).toHaveLength(1)
  })
})
