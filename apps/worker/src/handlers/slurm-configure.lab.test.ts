import { checkSlurmConfigDrift, slurmConfigVersions } from '@muster/core/slurm-configs'
import { canRunSlurm } from '@muster/lab'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ConfiguredCluster, createConfiguredCluster } from '../testing/configured-cluster.ts'

describe.runIf(canRunSlurm())('the configuration of a real cluster', () => {
  let c: ConfiguredCluster
  beforeAll(async () => {
    c = await createConfiguredCluster()
  })
  afterAll(() => c?.close())
  beforeEach(async () => void (await c.fixture.refresh(c.cluster)))

  it('imports the files as version 1', async () => {
    const [first] = await c.fixture.runtime.db.select().from(slurmConfigVersions).where(eq(slurmConfigVersions.number, 1))
    expect(first!.files['slurm.conf']).toBe(await c.fileOf(c.controller))
    expect(Object.keys(first!.files).sort()).toEqual(['cgroup.conf', 'gres.conf', 'slurm.conf'])
    expect(await c.stored()).toMatchObject({
      configNumber: 1,
      configDrift: Object.fromEntries(c.hosts.map((name) => [name, null])),
    })
  })

  it('rolls out a setting and a new node; the job survives', { timeout: 180_000 }, async () => {
    const number = await c.edit((text) =>
      text
        .replace('KillWait=2', 'KillWait=3')
        .replace(/^PartitionName=batch/m, 'NodeName=new-01 NodeAddr=10.255.0.1 CPUs=1 State=FUTURE\nPartitionName=batch'),
    )
    expect(await c.rollOut(number)).toMatchObject({ status: 'SUCCEEDED', error: null })
    for (const name of c.hosts) expect(await c.fileOf(name)).toContain('KillWait=3')
    expect((await c.lab.slurm!.run(['scontrol', 'show', 'config'])).stdout).toMatch(/KillWait\s+= 3 sec/)
    expect(await c.stored()).toMatchObject({ configNumber: number })
    expect(await c.jobState()).toBe('RUNNING')
  })

  it('blocks on an edit by hand, with its difference', async () => {
    const before = await c.fileOf('cpu-02')
    await c.lab.node('cpu-02').exec(['sh', '-c', 'echo KillWait=9 >> /etc/slurm/slurm.conf'])
    const check = await checkSlurmConfigDrift(c.fixture.admin, { clusterId: c.cluster.id })
    expect(await c.fixture.operate(check)).toMatchObject({ status: 'SUCCEEDED' })
    expect((await c.stored()).configDrift).toEqual({ [c.controller]: null, 'cpu-01': null, 'cpu-02': 'slurm.conf\n+KillWait=9' })
    const controllerBefore = await c.fileOf(c.controller)
    const rollout = await c.rollOut(await c.edit((text) => text.replace('KillWait=3', 'KillWait=4')))
    expect(rollout).toMatchObject({ status: 'FAILED', error: expect.stringContaining('cpu-02: slurm.conf\n') })
    expect(rollout.error).toMatch(/changed without Muster since version \d+. Nothing was written.*KillWait=9/s)
    expect(await c.fileOf(c.controller)).toBe(controllerBefore)
    await c.lab.node('cpu-02').exec(['sh', '-c', 'cat > /etc/slurm/slurm.conf'], { input: before })
  })
})
