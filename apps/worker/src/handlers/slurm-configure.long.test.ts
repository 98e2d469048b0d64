import { rollbackSlurmConfig } from '@muster/core/slurm-configs'
import { canRunSlurm } from '@muster/lab'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ConfiguredCluster, createConfiguredCluster } from '../testing/configured-cluster.ts'

describe.runIf(canRunSlurm())('a rollout that fails, and a rollback', () => {
  let c: ConfiguredCluster
  beforeAll(async () => {
    c = await createConfiguredCluster()
  })
  afterAll(() => c?.close())
  beforeEach(async () => void (await c.fixture.refresh(c.cluster)))

  it('rolls back in one step; the job survives', { timeout: 180_000 }, async () => {
    const number = await c.edit((text) => text.replace('KillWait=2', 'KillWait=5'))
    expect(await c.rollOut(number)).toMatchObject({ status: 'SUCCEEDED', error: null })
    const files = await c.fileOf(c.controller)
    expect(files).toContain('KillWait=5')
    await c.fixture.refresh(c.cluster)
    const rollback = await rollbackSlurmConfig(c.fixture.admin, { clusterId: c.cluster.id, number: 1, reason: 'test' })
    expect(await c.fixture.operate(rollback)).toMatchObject({ status: 'SUCCEEDED' })
    expect(await c.newest()).toMatchObject({ origin: 'RESTORED' })
    for (const name of c.hosts) expect(await c.fileOf(name)).toContain('KillWait=2')
    expect(await c.jobState()).toBe('RUNNING')
  })

  it('writes nothing when Slurm on a host refuses the file', async () => {
    // Muster cannot know the users of the hosts.
    const files = await Promise.all(c.hosts.map(c.fileOf))
    const rollout = await c.rollOut(await c.edit((text) => text.replace('SlurmUser=slurm', 'SlurmUser=nosuchuser')))
    expect(rollout).toMatchObject({
      status: 'FAILED',
      error: expect.stringMatching(/Slurm refuses the new slurm.conf.*nosuchuser/s),
    })
    expect(await Promise.all(c.hosts.map(c.fileOf))).toEqual(files)
    expect(await c.jobState()).toBe('RUNNING')
  })

  it('restores all hosts when one fails or slurmctld does not start', { timeout: 180_000 }, async () => {
    const files = await Promise.all(c.hosts.map(c.fileOf))
    // Only slurmctld notices it.
    const number = await c.edit((text) =>
      text
        .replace('SlurmUser=nosuchuser', 'SlurmUser=slurm')
        .replace('StateSaveLocation=/var/spool/slurmctld', 'StateSaveLocation=/proc/nowhere'),
    )
    const rollout = await c.rollOut(number)
    expect(rollout).toMatchObject({
      status: 'FAILED',
      error: expect.stringMatching(/earlier files were restored on all hosts/),
    })
    expect(await Promise.all(c.hosts.map(c.fileOf))).toEqual(files)
    expect(await c.stored()).not.toMatchObject({ configNumber: number })
    await vi.waitFor(async () => expect(await c.jobState()).toBe('RUNNING'), { timeout: 30_000 })
  })
})
