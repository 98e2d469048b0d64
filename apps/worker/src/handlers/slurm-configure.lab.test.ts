import { type SlurmCluster, slurmClusters } from '@muster/core/clusters'
import {
  checkSlurmConfigDrift,
  importSlurmConfig,
  previewSlurmConfig,
  rollbackSlurmConfig,
  rolloutSlurmConfig,
  saveSlurmConfig,
  slurmConfigVersions,
} from '@muster/core/slurm-configs'
import type { SlurmOperation } from '@muster/core/slurm-operations'
import { isLong } from '@muster/core/testing'
import { canRunSlurm, type OwnedLab } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { desc, eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createSlurmFixture, type SlurmFixture } from '../testing/slurm-fixture.ts'

const CONTROLLER = 'slurm-ctl-01'
const reason = 'test'

describe.runIf(canRunSlurm())('the configuration of a real cluster', () => {
  let lab: OwnedLab
  let fixture: SlurmFixture
  let cluster: SlurmCluster
  let job: string
  beforeAll(async () => {
    lab = await createLab({ nodes: [{ name: 'cpu-01' }, { name: 'cpu-02' }], slurm: true })
    fixture = await createSlurmFixture(lab)
    cluster = await fixture.adopt(CONTROLLER, { reuseConfig: false })
    job = await lab.slurm!.submit('while sleep 0.2; do date +%s >> /tmp/lines; done', ['--nodelist=cpu-01'])
    await vi.waitFor(async () => expect(await jobState()).toBe('RUNNING'), { timeout: 60_000 })
    const nodeIds = ['cpu-01', 'cpu-02'].map((name) => fixture.nodeId(name))
    const operation = await importSlurmConfig(fixture.admin, { clusterId: cluster.id, nodeIds, reason })
    expect(await fixture.operate(operation)).toMatchObject({ status: 'SUCCEEDED', error: null })
  })
  afterAll(() => fixture?.close())
  beforeEach(() => fixture.refresh(cluster))

  const jobState = async () => (await lab.slurm!.run(['squeue', '--noheader', '--format=%T', `--jobs=${job}`])).stdout.trim()
  const fileOf = async (name: string) => (await lab.node(name).exec(['cat', '/etc/slurm/slurm.conf'])).stdout
  const hosts = [CONTROLLER, 'cpu-01', 'cpu-02']
  const stored = async () => (await fixture.runtime.db.select().from(slurmClusters).where(eq(slurmClusters.id, cluster.id)))[0]!
  const newest = async () =>
    (
      await fixture.runtime.db
        .select()
        .from(slurmConfigVersions)
        .where(eq(slurmConfigVersions.clusterId, cluster.id))
        .orderBy(desc(slurmConfigVersions.number))
    )[0]!
  /** Saves an edit of the newest version. @returns its number */
  async function edit(change: (text: string) => string): Promise<number> {
    const { number, files } = await newest()
    const edited = { ...files, 'slurm.conf': change(files['slurm.conf']) }
    return (await saveSlurmConfig(fixture.admin, { clusterId: cluster.id, basedOn: number, files: edited, reason })).number
  }
  async function rollOut(number: number): Promise<SlurmOperation> {
    const { fingerprint } = await previewSlurmConfig(fixture.admin, { clusterId: cluster.id, number })
    const request = { clusterId: cluster.id, number, fingerprint: fingerprint!, reason }
    return fixture.operate(await rolloutSlurmConfig(fixture.admin, request))
  }

  it('imports the files as version 1', async () => {
    const [first] = await fixture.runtime.db.select().from(slurmConfigVersions).where(eq(slurmConfigVersions.number, 1))
    expect(first!.files['slurm.conf']).toBe(await fileOf(CONTROLLER))
    expect(Object.keys(first!.files).sort()).toEqual(['cgroup.conf', 'gres.conf', 'slurm.conf'])
    expect(await stored()).toMatchObject({ configNumber: 1, configDrift: Object.fromEntries(hosts.map((name) => [name, null])) })
  })

  it('rolls out a setting and a new node; the job survives', { timeout: 180_000 }, async () => {
    const number = await edit((text) =>
      text
        .replace('KillWait=2', 'KillWait=3')
        .replace(/^PartitionName=batch/m, 'NodeName=new-01 NodeAddr=10.255.0.1 CPUs=1 State=FUTURE\nPartitionName=batch'),
    )
    expect(await rollOut(number)).toMatchObject({ status: 'SUCCEEDED', error: null })
    for (const name of hosts) expect(await fileOf(name)).toContain('KillWait=3')
    expect((await lab.slurm!.run(['scontrol', 'show', 'config'])).stdout).toMatch(/KillWait\s+= 3 sec/)
    expect(await stored()).toMatchObject({ configNumber: number })
    expect(await jobState()).toBe('RUNNING')
  })

  it('blocks on an edit by hand, with its difference', async () => {
    const before = await fileOf('cpu-02')
    await lab.node('cpu-02').exec(['sh', '-c', 'echo KillWait=9 >> /etc/slurm/slurm.conf'])
    const check = await checkSlurmConfigDrift(fixture.admin, { clusterId: cluster.id })
    expect(await fixture.operate(check)).toMatchObject({ status: 'SUCCEEDED' })
    expect((await stored()).configDrift).toEqual({ [CONTROLLER]: null, 'cpu-01': null, 'cpu-02': 'slurm.conf\n+KillWait=9' })
    const controllerBefore = await fileOf(CONTROLLER)
    const rollout = await rollOut(await edit((text) => text.replace('KillWait=3', 'KillWait=4')))
    expect(rollout).toMatchObject({ status: 'FAILED', error: expect.stringContaining('cpu-02: slurm.conf\n') })
    expect(rollout.error).toMatch(/changed without Muster since version \d+. Nothing was written.*KillWait=9/s)
    expect(await fileOf(CONTROLLER)).toBe(controllerBefore)
    await lab.node('cpu-02').exec(['sh', '-c', 'cat > /etc/slurm/slurm.conf'], { input: before })
  })

  // Each one runs Ansible once or twice.
  const long = it.runIf(isLong)

  long('rolls back in one step; the job survives', { timeout: 180_000 }, async () => {
    const number = await edit((text) => text.replace('KillWait=4', 'KillWait=5'))
    expect(await rollOut(number)).toMatchObject({ status: 'SUCCEEDED', error: null })
    const files = await fileOf(CONTROLLER)
    expect(files).toContain('KillWait=5')
    await fixture.refresh(cluster)
    const rollback = await rollbackSlurmConfig(fixture.admin, { clusterId: cluster.id, number: 1, reason })
    expect(await fixture.operate(rollback)).toMatchObject({ status: 'SUCCEEDED' })
    expect(await newest()).toMatchObject({ origin: 'RESTORED' })
    for (const name of hosts) expect(await fileOf(name)).toContain('KillWait=2')
    expect(await jobState()).toBe('RUNNING')
  })

  long('writes nothing when Slurm on a host refuses the file', async () => {
    // Muster cannot know the users of the hosts.
    const files = await Promise.all(hosts.map(fileOf))
    const rollout = await rollOut(await edit((text) => text.replace('SlurmUser=slurm', 'SlurmUser=nosuchuser')))
    expect(rollout).toMatchObject({
      status: 'FAILED',
      error: expect.stringMatching(/Slurm refuses the new slurm.conf.*nosuchuser/s),
    })
    expect(await Promise.all(hosts.map(fileOf))).toEqual(files)
    expect(await jobState()).toBe('RUNNING')
  })

  long('restores all hosts when one fails or slurmctld does not start', { timeout: 180_000 }, async () => {
    const files = await Promise.all(hosts.map(fileOf))
    // Only slurmctld notices it.
    const number = await edit((text) =>
      text
        .replace('SlurmUser=nosuchuser', 'SlurmUser=slurm')
        .replace('StateSaveLocation=/var/spool/slurmctld', 'StateSaveLocation=/proc/nowhere'),
    )
    const rollout = await rollOut(number)
    expect(rollout).toMatchObject({ status: 'FAILED', error: expect.stringMatching(/earlier files were restored on all hosts/) })
    expect(await Promise.all(hosts.map(fileOf))).toEqual(files)
    expect(await stored()).not.toMatchObject({ configNumber: number })
    await vi.waitFor(async () => expect(await jobState()).toBe('RUNNING'), { timeout: 30_000 })
  })
})
