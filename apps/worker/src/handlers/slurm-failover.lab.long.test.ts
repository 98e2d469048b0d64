import type { SlurmCluster } from '@muster/core/clusters'
import { createCredential } from '@muster/core/credentials'
import { canRunSlurm, type OwnedLab } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createSlurmFixture, type SlurmFixture } from '../testing/slurm-fixture.ts'

const PRIMARY = 'slurm-ctl-01'
const BACKUP = 'slurm-ctl-02'
const controllers = (isPrimaryUp: boolean) => [
  { role: 'primary', hostname: PRIMARY, isUp: isPrimaryUp },
  { role: 'backup', hostname: BACKUP, isUp: true },
]
/** Commands wait for the primary before they ask the backup, which takes over after SlurmctldTimeout. */
const WAIT = { timeout: 180_000, interval: 500 }

describe.runIf(canRunSlurm())('a cluster with a backup controller', () => {
  let lab: OwnedLab
  let fixture: SlurmFixture
  let cluster: SlurmCluster
  let running: string
  beforeAll(async () => {
    lab = await createLab({
      nodes: [{ name: 'cpu-01' }, { name: 'cpu-02' }],
      slurm: { backup: true, config: { SlurmctldTimeout: '5', SlurmdTimeout: '300' } },
    })
    running = await lab.slurm!.submit('sleep 3600', ['--nodelist=cpu-01'])
    await vi.waitFor(
      async () => expect((await lab.slurm!.run(['squeue', '--noheader', '--format=%T'])).stdout).toBe('RUNNING\n'),
      { timeout: 60_000 },
    )
    fixture = await createSlurmFixture(lab, { queryTimeoutMs: 40_000 })
    // Without accounting, Slurm lets only root and SlurmUser change nodes.
    const { username, privateKey } = lab.credentials.rootKey!
    const root = await createCredential(fixture.admin, { name: 'root', kind: 'SSH_KEY', username, privateKey })
    for (const name of [PRIMARY, BACKUP]) await fixture.logInWith(name, root.id)
    cluster = await fixture.adopt(PRIMARY, { backupNodeId: fixture.nodeId(BACKUP) })
  })
  afterAll(() => fixture?.close())
  /** A test that failed would make the next ones wait. */
  afterEach(() => lab.heal())

  /** Refreshes until a success with these controllers. Until then, a failure must keep the data of the last success, with its time. */
  async function refreshUntil(isPrimaryUp: boolean): Promise<SlurmCluster> {
    let last = { cluster: await fixture.read(cluster), data: await fixture.stored(cluster) }
    return vi.waitFor(async () => {
      const now = await fixture.refresh(cluster)
      const data = await fixture.stored(cluster)
      if (now.lastError !== null) {
        const { refreshedAt, controllers } = last.cluster
        expect(now).toMatchObject({ state: 'NOT_ANSWERING', refreshedAt, controllers })
        expect(data).toEqual(last.data)
        throw new Error(now.lastError)
      }
      last = { cluster: now, data }
      expect(now.controllers).toEqual(controllers(isPrimaryUp))
      return now
    }, WAIT)
  }
  /** Nodes and jobs as Muster has them. */
  async function shown() {
    const { nodes, jobs } = await fixture.stored(cluster)
    return {
      nodes: nodes.map(({ name, states }) => `${name} ${states.join('+')}`),
      jobs: jobs.map(({ jobId, state }) => `${jobId} ${state}`),
    }
  }

  const whole = () => ({ nodes: ['cpu-01 MIXED', 'cpu-02 IDLE'], jobs: [`${running} RUNNING`] })
  const drained = () => ({ ...whole(), nodes: ['cpu-01 MIXED', 'cpu-02 IDLE+DRAIN'] })

  /** The backup is in control: its data is shown, and actions work through it. */
  async function expectBackup(before: SlurmCluster, readThrough: string): Promise<void> {
    const after = await refreshUntil(false)
    expect(after.refreshedAt!.getTime()).toBeGreaterThan(before.refreshedAt!.getTime())
    expect(after.readNodeId).toBe(fixture.nodeId(readThrough))
    expect(after.fallbackReason === null).toBe(readThrough === PRIMARY)
    expect(await shown()).toEqual(whole())
    await fixture.act(cluster, { verb: 'DRAIN_NODES', nodes: { hostlist: 'cpu-02' } })
    const { stdout } = await lab.slurm!.run(['scontrol', 'show', 'node', 'cpu-02'], { on: BACKUP })
    expect(stdout).toMatch(/State=IDLE\+DRAIN/)
    await fixture.refresh(cluster)
    expect(await shown()).toEqual(drained())
  }
  /** The primary has the control again, with what was done through the backup. */
  async function expectPrimary(): Promise<void> {
    await refreshUntil(true)
    await vi.waitFor(async () => {
      await fixture.refresh(cluster)
      expect(await shown()).toEqual(drained())
    }, WAIT)
    await fixture.act(cluster, { verb: 'RESUME_NODES', nodes: { hostlist: 'cpu-02' } })
  }
  /** A refresh that must fail, and keep the last data with its time. */
  async function expectFailure(before: SlurmCluster, message: RegExp): Promise<void> {
    const data = await fixture.stored(cluster)
    const failed = await fixture.refresh(cluster)
    expect(failed).toMatchObject({ state: 'NOT_ANSWERING', refreshedAt: before.refreshedAt, controllers: before.controllers })
    expect(failed.lastError).toMatch(message)
    expect(await fixture.stored(cluster)).toEqual(data)
  }

  it('shows the data of the backup when the primary has stopped, acts through it, and returns', async () => {
    const before = await refreshUntil(true)
    expect(before).toMatchObject({ readNodeId: fixture.nodeId(PRIMARY), fallbackReason: null })
    expect(await shown()).toEqual(whole())
    await lab.fault(PRIMARY, 'controller-stop')
    await expectBackup(before, PRIMARY)
    await lab.heal(PRIMARY)
    await expectPrimary()
  })

  it('keeps the last data while the primary is frozen, and shows that of the backup when its host is lost', async () => {
    const before = await refreshUntil(true)
    await lab.fault(PRIMARY, 'controller-freeze')
    // The backup takes over, but Slurm's commands wait for a primary that still accepts connections.
    await expectFailure(before, /Socket timed out/)
    await lab.fault(PRIMARY, 'link-down')
    await expectBackup(before, BACKUP)
    await lab.slurm!.run(['sh', '-c', 'kill -KILL $(cat /run/systemd/lab-services/slurmctld.service); systemctl start slurmctld'])
    await lab.heal(PRIMARY)
    await expectPrimary()
  })

  it('keeps the last data while the primary is cut off from the network only', async () => {
    const before = await refreshUntil(true)
    await lab.fault(PRIMARY, 'link-down')
    // The primary writes the shared state, so the backup does not take over.
    await expectFailure(before, /standby mode/)
    await lab.heal(PRIMARY)
    await refreshUntil(true)
  })

  it('reads the primary controller through the host of the backup while its own host refuses SSH', async () => {
    await refreshUntil(true)
    await lab.fault(PRIMARY, 'sshd-stop')
    const through = await fixture.refresh(cluster)
    expect(through).toMatchObject({ lastError: null, controllers: controllers(true), readNodeId: fixture.nodeId(BACKUP) })
    expect(through.fallbackReason).toMatch(/refuse/)
    await fixture.act(cluster, { verb: 'DRAIN_NODES', nodes: { hostlist: 'cpu-02' } })
    await fixture.act(cluster, { verb: 'RESUME_NODES', nodes: { hostlist: 'cpu-02' } })
    await lab.heal(PRIMARY)
    expect(await fixture.refresh(cluster)).toMatchObject({ readNodeId: fixture.nodeId(PRIMARY), fallbackReason: null })
  })
})
