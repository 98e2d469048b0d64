import { slurmClusters, slurmNodes } from '@muster/core/clusters'
import { computeNodes } from '@muster/core/nodes'
import { previewSlurmConfig, rolloutSlurmConfig, saveSlurmConfig, slurmConfigVersions } from '@muster/core/slurm-configs'
import { cancelSlurmOperation, type SlurmOperation } from '@muster/core/slurm-operations'
import {
  createSlurmCluster,
  previewSlurmScaleIn,
  previewSlurmScaleOut,
  scaleInSlurmCluster,
  scaleOutSlurmCluster,
} from '@muster/core/slurm-scaling'
import { canRunSlurm } from '@muster/lab'
import { desc, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createManagedLab, LAB_LINES, type ManagedLab } from '../../testing/managed-lab.ts'
import { seededRandom } from '../../testing/seeded-random.ts'

const LONG = { timeout: 900_000, interval: 300 }
const CONTROLLER = 'ctl'
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000)
/** Steps take from milliseconds to about 8 s. */
const EXPONENTS = { from: 4, to: 13 }

describe.runIf(canRunSlurm())(`a managed cluster, seed ${SEED}`, () => {
  const random = seededRandom(SEED)
  let m: ManagedLab
  let clusterId: string

  async function scaleOut(...names: string[]): Promise<SlurmOperation> {
    const request = { clusterId, nodeIds: names.map(m.id) }
    const { fingerprint } = await previewSlurmScaleOut(m.fixture.admin, request)
    return scaleOutSlurmCluster(m.fixture.admin, { ...request, fingerprint, reason: 'test' })
  }
  async function scaleIn(hostlist: string, deadlineSeconds = 60): Promise<SlurmOperation> {
    const { fingerprint } = await previewSlurmScaleIn(m.fixture.admin, { clusterId, hostlist })
    return scaleInSlurmCluster(m.fixture.admin, { clusterId, hostlist, fingerprint, deadlineSeconds, reason: 'test' })
  }
  /** Rolls out the newest version with another text. */
  async function rollOut(change: (text: string) => string): Promise<SlurmOperation> {
    const versions = m.t.runtime.db.select().from(slurmConfigVersions).where(eq(slurmConfigVersions.clusterId, clusterId))
    const [newest] = await versions.orderBy(desc(slurmConfigVersions.number)).limit(1)
    const files = { ...newest!.files, 'slurm.conf': change(newest!.files['slurm.conf']) }
    const request = { clusterId, reason: 'test' }
    const { number } = await saveSlurmConfig(m.fixture.admin, { ...request, basedOn: newest!.number, files })
    const { fingerprint } = await previewSlurmConfig(m.fixture.admin, { clusterId, number })
    return rolloutSlurmConfig(m.fixture.admin, { ...request, number, fingerprint: fingerprint! })
  }

  /** Times of the lines that the surviving job has written. */
  const lines = async () => (await m.on('cpu-1', 'cat /tmp/lines')).split('\n').map(Number)
  async function expectNoGap(): Promise<void> {
    const times = await lines()
    const gaps = times.slice(1).map((time, index) => time - times[index]!)
    expect(Math.max(...gaps)).toBeLessThanOrEqual(3)
    await vi.waitFor(async () => expect((await lines()).length).toBeGreaterThan(times.length), LONG)
  }

  /** A moment within a step, or its end when that comes first. Kills the worker, and lets another one continue. */
  async function killWithin(row: SlurmOperation, step: string, message?: string): Promise<void> {
    await m.holdStep(step)
    await m.startWorker()
    await m.runs(row, step, message)
    const delay = Math.round(2 ** (EXPONENTS.from + random((EXPONENTS.to - EXPONENTS.from) * 100) / 100))
    const until = performance.now() + delay
    await vi.waitFor(async () => expect((await m.isHeld()) || performance.now() >= until).toBe(true), { ...LONG, interval: 10 })
    await kill(row, step, `${(await m.isHeld()) ? 'at the end' : `after ${delay} ms`}${message ? ` of "${message}"` : ''}`)
  }
  /** Kills the worker when it has done the work of a step and not recorded that: the next one repeats the whole step. */
  async function killAtEnd(row: SlurmOperation, step: string): Promise<void> {
    await m.holdStep(step)
    await m.startWorker()
    await m.held()
    await kill(row, step, 'at the end')
  }
  async function kill(row: SlurmOperation, name: string, when: string): Promise<void> {
    await m.killWorker()
    process.stderr.write(`seed ${SEED}: ${row.kind}: killed in "${name}", ${when}\n`)
    const { steps } = await m.operation(row.id)
    expect(steps.at(-1)).toMatchObject({ name, state: 'RUNNING' })
  }

  /** The password of the database is in no output of a run and no argument of a process. */
  async function expectNoPassword(password: string): Promise<void> {
    expect(password).toMatch(/^[\w-]{32}$/)
    const { rows } = await m.t.runtime.db.execute(
      sql`select 1 from job_run_events e where e::text like ${`%${password}%`} union select 1 from job_runs r where r::text like ${`%${password}%`}`,
    )
    expect(rows).toEqual([])
    expect(await m.on(CONTROLLER, 'cat /proc/[0-9]*/cmdline | tr "\\0" " "')).not.toContain(password)
  }

  beforeAll(async () => {
    m = await createManagedLab([CONTROLLER, 'cpu-1', 'cpu-2', 'cpu-3', 'cpu-4', 'cpu-10'])
  }, 300_000)
  afterAll(() => m?.close())

  it('is created from READY nodes while workers are killed in every step', { timeout: 900_000 }, async () => {
    const row = await createSlurmCluster(m.fixture.admin, {
      name: 'prod',
      controllerNodeId: m.id(CONTROLLER),
      computeNodeIds: [m.id('cpu-1'), m.id('cpu-10')],
      maxNodes: 4,
      accounting: { kind: 'MANAGED', nodeId: m.id(CONTROLLER) },
      repositoryUrl: m.repository.url,
      extraLines: LAB_LINES,
      reason: 'test',
    })
    clusterId = row.clusterId
    await m.killWorker()
    for (const step of [
      'check nodes',
      'install Slurm',
      'set up accounting',
      'start the controller',
      'start slurmd',
      'run a test job on each node',
    ])
      await killWithin(row, step)
    await m.startWorker()
    expect(await m.ended(row)).toEqual({
      status: 'SUCCEEDED',
      error: null,
      nodes: [
        ['cpu-1', 'IN_SERVICE', null],
        ['cpu-10', 'IN_SERVICE', null],
      ],
    })
    expect(await m.on(CONTROLLER, "sinfo --noheader --format='%P %T %N'")).toBe('batch* idle cpu-[1,10]')
    const finished = await m.on(CONTROLLER, 'sbatch --parsable --chdir=/tmp --output=/dev/null --wrap=true')
    await vi.waitFor(
      async () =>
        expect(await m.on(CONTROLLER, `sacct --jobs=${finished} --noheader --parsable2 --format=JobID,State,Cluster`)).toContain(
          `${finished}|COMPLETED|prod`,
        ),
      LONG,
    )
    expect(await m.on(CONTROLLER, 'stat --format="%U %a" /etc/slurm/slurmdbd.conf')).toBe('slurm 600')
    expect(await m.on(CONTROLLER, 'sacctmgr --noheader --parsable2 list cluster format=Cluster')).toBe('prod')
    await expectNoPassword(await m.on(CONTROLLER, 'sed -n s/^StoragePass=//p /etc/slurm/slurmdbd.conf'))
    const script = '#!/bin/sh\nwhile :; do date +%s >> /tmp/lines; sleep 1; done\n'
    await m.lab.node(CONTROLLER).exec(['sbatch', '--nodelist=cpu-1', '--chdir=/tmp', '--output=/dev/null'], { input: script })
    await vi.waitFor(async () => expect((await lines()).length).toBeGreaterThan(2), LONG)
  })

  it('grows while workers are killed in and at the end of every step, and not beyond its limit', {
    timeout: 900_000,
  }, async () => {
    const row = await scaleOut('cpu-2', 'cpu-3')
    await m.killWorker()
    for (const step of [
      'check nodes',
      'install Slurm',
      'add the nodes to the configuration',
      'start slurmd',
      'wait for the registration',
      'run a test job on each node',
      'remove failed nodes',
    ]) {
      await killWithin(row, step)
      await killAtEnd(row, step)
    }
    await m.startWorker()
    expect(await m.ended(row)).toEqual({
      status: 'SUCCEEDED',
      error: null,
      nodes: [
        ['cpu-2', 'IN_SERVICE', null],
        ['cpu-3', 'IN_SERVICE', null],
      ],
    })
    expect(await m.on(CONTROLLER, "sinfo --noheader --Node --format='%N %T' | sort")).toBe(
      'cpu-1 mixed\ncpu-10 idle\ncpu-2 idle\ncpu-3 idle',
    )
    await expectNoGap()
    await expect(scaleOut('cpu-4')).rejects.toThrow('would have 5 nodes; its limit is 4')
  })

  it('gets another configuration while workers are killed at every stage of the rollout', { timeout: 900_000 }, async () => {
    const row = await rollOut((text) => `${text}KillWait=7\n`)
    await m.killWorker()
    const stages = ['Compare the files', 'Let slurmctld of ctl try', 'Write version', 'Check that Slurm works']
    for (const stage of stages) await killWithin(row, 'configuration', stage)
    await killAtEnd(row, 'configuration')
    await m.startWorker()
    expect(await m.ended(row)).toMatchObject({ status: 'SUCCEEDED', error: null })
    expect(await m.on(CONTROLLER, 'scontrol show config | grep KillWait')).toMatch(/KillWait\s+= 7 sec/)
    await expectNoGap()
  })

  it('shrinks by exactly the named nodes while workers are killed in and at the end of every step', {
    timeout: 900_000,
  }, async () => {
    const row = await scaleIn('cpu-3')
    await m.killWorker()
    for (const step of ['drain', 'wait for jobs', 'remove the nodes from the configuration', 'remove Slurm from the nodes']) {
      await killWithin(row, step)
      await killAtEnd(row, step)
    }
    await m.startWorker()
    expect(await m.ended(row)).toMatchObject({ status: 'SUCCEEDED', nodes: [['cpu-3', 'CLEANED', null]] })
    expect(await m.on(CONTROLLER, "sinfo --noheader --Node --format='%N %T' | sort")).toBe('cpu-1 mixed\ncpu-10 idle\ncpu-2 idle')
    expect(await m.on('cpu-3', 'ls -d /etc/munge/munge.key /etc/slurm /usr/sbin/slurmd')).toBe('')
    const [node] = await m.t.runtime.db
      .select()
      .from(computeNodes)
      .where(eq(computeNodes.id, m.id('cpu-3')))
    expect(node!.status).toBe('READY')
    await expectNoGap()
  })

  it('keeps a node whose job outlives the deadline, without the drain', { timeout: 900_000 }, async () => {
    const row = await scaleIn('cpu-[1-2]', 5)
    expect(await m.ended(row)).toMatchObject({
      status: 'PARTIAL',
      nodes: [
        ['cpu-1', 'UNDRAINED', expect.stringMatching(/^The deadline has passed. Jobs run on it: \d+. It stays in the cluster.$/)],
        ['cpu-2', 'CLEANED', null],
      ],
    })
    expect(await m.on(CONTROLLER, "sinfo --noheader --Node --format='%N %T %E' | sort")).toBe(
      'cpu-1 mixed none\ncpu-10 idle none',
    )
    await expectNoGap()
  })

  it('leaves a node out that fails, with its reason, and undoes a canceled scale-out while workers are killed', {
    timeout: 900_000,
  }, async () => {
    const listen = 'import socket, time; s = socket.create_server(("", 6818)); time.sleep(600)'
    await m.on('cpu-4', `setsid python3 -c '${listen}' </dev/null >/dev/null 2>&1 &`)
    const partial = await scaleOut('cpu-3', 'cpu-4')
    expect(await m.ended(partial)).toMatchObject({
      status: 'PARTIAL',
      nodes: [
        ['cpu-3', 'IN_SERVICE', null],
        ['cpu-4', 'CHECKED', expect.stringContaining('another program uses port 6818')],
      ],
    })
    const row = await scaleOut('cpu-2')
    await m.runs(row, 'start slurmd')
    await cancelSlurmOperation(m.fixture.admin, { id: row.id })
    await m.runs(row, 'undo', 'Write version')
    await m.killWorker()
    await killWithin(row, 'undo')
    await killAtEnd(row, 'undo')
    await m.startWorker()
    expect(await m.ended(row)).toMatchObject({ status: 'CANCELED' })
    expect(await m.on(CONTROLLER, "sinfo --noheader --Node --format='%N' | sort")).toBe('cpu-1\ncpu-10\ncpu-3')
    expect(await m.on('cpu-2', 'ls -d /etc/munge/munge.key /usr/sbin/slurmd')).toBe('')
    const [cluster] = await m.t.runtime.db.select().from(slurmClusters).where(eq(slurmClusters.id, clusterId))
    expect(cluster!.kind).toBe('MANAGED')
    await vi.waitFor(
      async () =>
        expect((await m.t.runtime.db.select().from(slurmNodes)).map(({ name }) => name).sort()).toEqual([
          'cpu-1',
          'cpu-10',
          'cpu-3',
        ]),
      LONG,
    )
    await expectNoGap()
  })
})
