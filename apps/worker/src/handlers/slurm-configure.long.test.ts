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
      error: expect.stringMatching(/^slurmctld of slurm-ctl-01 refuses version \d+. Nothing was written.*nosuchuser/s),
    })
    expect(await Promise.all(c.hosts.map(c.fileOf))).toEqual(files)
    expect(await c.jobState()).toBe('RUNNING')
  })

  it('stops when one host of several fails, and restores the others; the job survives', { timeout: 180_000 }, async () => {
    const files = await Promise.all(c.hosts.map(c.fileOf))
    const on = (command: string) => c.lab.node('cpu-02').exec(['sh', '-c', command])
    const readOnly = await on('mount --bind /etc/slurm /etc/slurm && mount -o remount,bind,ro /etc/slurm')
    expect(readOnly.code, readOnly.stderr).toBe(0)
    const number = await c.edit((text) =>
      text.replace('SlurmUser=nosuchuser', 'SlurmUser=slurm').replace('KillWait=2', 'KillWait=9'),
    )
    const rollout = await c.rollOut(number)
    expect(rollout).toMatchObject({
      status: 'FAILED',
      error: expect.stringMatching(
        /^cpu-02: \/etc\/slurm could not be written: Read-only file system.* restored on all hosts\.$/s,
      ),
    })
    // The others had the new file before.
    for (const name of ['slurm-ctl-01', 'cpu-01'])
      expect((await c.lab.node(name).exec(['cat', '/etc/slurm/.before-muster/slurm.conf'])).stdout).toContain('KillWait=9')
    await on('umount /etc/slurm')
    expect(await Promise.all(c.hosts.map(c.fileOf))).toEqual(files)
    expect(await c.stored()).not.toMatchObject({ configNumber: number })
    expect(await c.jobState()).toBe('RUNNING')
  })

  it('restores all hosts when slurmctld does not start', { timeout: 180_000 }, async () => {
    const files = await Promise.all(c.hosts.map(c.fileOf))
    // Only slurmctld notices it.
    const number = await c.edit((text) =>
      text.replace('StateSaveLocation=/var/spool/slurmctld', 'StateSaveLocation=/proc/nowhere'),
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

describe.runIf(canRunSlurm())('a rollout that adds a controller', () => {
  const BACKUP = 'slurm-ctl-02'
  let c: ConfiguredCluster
  let line: string
  let state: string
  beforeAll(async () => {
    c = await createConfiguredCluster({ backup: true })
    line = /^SlurmctldHost=slurm-ctl-02.*\n/m.exec(await c.fileOf(c.controller))![0]
    state = /^StateSaveLocation=.*/m.exec(await c.fileOf(c.controller))![0]
    expect(await c.rollOut(await c.edit((text) => text.replace(line, '')))).toMatchObject({ status: 'SUCCEEDED', error: null })
    await onBackup('systemctl stop slurmctld')
  })
  afterAll(() => c?.close())
  beforeEach(async () => {
    await onBackup('rm -f /etc/slurm/*.conf')
    await c.fixture.refresh(c.cluster)
  })

  const onBackup = async (command: string) => (await c.lab.node(BACKUP).exec(['sh', '-c', command])).stdout.trim()
  const add = (text: string) => text.replace(/^(SlurmctldHost=slurm-ctl-01.*\n)/m, `$1${line}`)

  it('overwrites no file of the host', { timeout: 180_000 }, async () => {
    await onBackup('echo AutoDetect=nvml > /etc/slurm/gres.conf')
    const rollout = await c.rollOut(await c.edit(add))
    expect(rollout).toMatchObject({ status: 'FAILED', error: expect.stringMatching(/gres.conf was changed without Muster/) })
    expect(await onBackup('cd /etc/slurm; head *.conf')).toBe('AutoDetect=nvml')
    expect(await c.fileOf(c.controller)).not.toContain(BACKUP)
  })

  it('leaves the host without files when Slurm does not work with the new ones', { timeout: 180_000 }, async () => {
    const broken = await c.edit((text) =>
      add(text.replace(line, '')).replace(/^StateSaveLocation=.*/m, 'StateSaveLocation=/proc/nowhere'),
    )
    expect(await c.rollOut(broken)).toMatchObject({
      status: 'FAILED',
      error: expect.stringMatching(/earlier files were restored on all hosts/),
    })
    expect(await onBackup('ls /etc/slurm/*.conf; systemctl is-active slurmctld')).toMatch(/^(inactive|failed)$/)
    expect(await c.fileOf(c.controller)).not.toContain(BACKUP)
    await vi.waitFor(async () => expect(await c.jobState()).toBe('RUNNING'), { timeout: 30_000 })
  })

  it('writes the files there and starts slurmctld; the job survives', { timeout: 180_000 }, async () => {
    const number = await c.edit((text) => text.replace(/^StateSaveLocation=.*/m, state))
    expect(await c.rollOut(number)).toMatchObject({ status: 'SUCCEEDED', error: null })
    expect(await c.fileOf(BACKUP)).toBe(await c.fileOf(c.controller))
    const ping = async () => (await c.lab.slurm!.run(['scontrol', 'ping'])).stdout
    const both = /slurm-ctl-01 is UP\n.* slurm-ctl-02 is UP/
    await vi.waitFor(async () => expect(await ping()).toMatch(both), { timeout: 60_000 })
    expect(await c.jobState()).toBe('RUNNING')
  })
})
