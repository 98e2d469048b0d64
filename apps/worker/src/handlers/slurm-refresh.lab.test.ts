import { lookUpSlurmJobs, type SlurmCluster, updateSlurmCluster } from '@muster/core/clusters'
import { createCredential } from '@muster/core/credentials'
import { isLong, scaleIterations } from '@muster/core/testing'
import { canRunSlurm, type OwnedLab } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createSlurmFixture, type SlurmFixture } from '../testing/slurm-fixture.ts'
import { comparable, startSlurmrestd } from '../testing/slurmrestd.ts'

const CONTROLLER = 'slurm-ctl-01'

/** Faults of the controller, and what the failed refresh says. The long ones wait for deadlines. */
const FAULTS = [
  ['controller-stop', {}, /Unable to contact slurm controller.*slurmctld does not run/],
  ['broken-slurm-conf', {}, /NoSuchKey/],
  ['truncated-output', { tool: 'sinfo' }, /`sinfo .*` failed: the output is not complete JSON/],
  ['truncated-output', { tool: 'squeue' }, /`squeue .*` failed/],
] as const
const LONG_FAULTS = [
  ['controller-freeze', {}, /Socket timed out.*hangs or is overloaded/],
  ['hung-tool', { tool: 'sinfo' }, /`sinfo .*` failed: no answer within 5 s/],
  ['endless-output', { tool: 'squeue' }, /`squeue .*` failed/],
  ['sshd-stop', {}, /refuses connections|refused/],
  ['link-down', {}, /did not respond within 3 s/],
] as const
/** Faults of the host where the commands run, while the controller is on another one. */
const CLIENT_FAULTS = [['wrong-munge-key', {}, /the munge key is equal/]] as const
const LONG_CLIENT_FAULTS = [['clock-skew', { seconds: 600 }, /the clocks differ/]] as const

describe.runIf(canRunSlurm())('the refresh of a real cluster', () => {
  let lab: OwnedLab
  let fixture: SlurmFixture
  let cluster: SlurmCluster
  let running: string
  beforeAll(async () => {
    lab = await createLab({
      nodes: [{ name: 'gpu-01', profile: 'h100x8' }, { name: 'mig-01', profile: 'h100x8-mig' }, { name: 'cpu-01' }],
      slurm: { config: { SlurmdTimeout: '300', Licenses: 'matlab:10,ansys@server:5' } },
    })
    running = await lab.slurm!.submit('sleep 3600', ['--gres=gpu:h100:4', '--cpus-per-task=8', '--job-name=a "b" | ü'])
    await vi.waitFor(
      async () => expect((await lab.slurm!.run(['squeue', '--noheader', '--format=%T'])).stdout).toBe('RUNNING\n'),
      { timeout: 60_000 },
    )
    fixture = await createSlurmFixture(lab)
    cluster = await fixture.adopt(CONTROLLER)
  })
  afterAll(() => fixture?.close())

  it('stores nodes, partitions, jobs, settings and the scheduler', async () => {
    expect(cluster).toMatchObject({
      clusterName: 'lab',
      version: '22.05.8',
      controllers: [{ role: 'primary', hostname: CONTROLLER, isUp: true }],
      settings: expect.objectContaining({ ClusterName: 'lab', SlurmUser: expect.stringMatching(/^slurm\(/) }),
      scheduler: expect.objectContaining({ jobs: expect.objectContaining({ submitted: 1, started: 1 }) }),
      lastError: null,
      failingSince: null,
    })
    const { nodes, partitions, jobs } = await fixture.stored(cluster)
    expect(
      nodes.map(({ name, states, partitions, matchedBy, nodeId }) => ({ name, states, partitions, matchedBy, nodeId })),
    ).toEqual([
      { name: 'cpu-01', states: ['IDLE'], partitions: ['batch'], matchedBy: 'ADDRESS', nodeId: fixture.nodeId('cpu-01') },
      { name: 'gpu-01', states: ['MIXED'], partitions: ['batch', 'gpu'], matchedBy: 'ADDRESS', nodeId: fixture.nodeId('gpu-01') },
      { name: 'mig-01', states: ['IDLE'], partitions: ['batch', 'gpu'], matchedBy: 'ADDRESS', nodeId: fixture.nodeId('mig-01') },
    ])
    expect(partitions.map(({ name }) => name)).toEqual(['batch', 'gpu'])
    expect(jobs).toMatchObject([
      { jobId: running, state: 'RUNNING', userName: 'ops', partition: 'batch', report: { name: 'a "b" | ü' } },
    ])
  })

  it('has no finished jobs to look up without accounting', async () => {
    const lookup = await fixture.lookUp(await lookUpSlurmJobs(fixture.admin, { clusterId: cluster.id }))
    expect(lookup).toMatchObject({
      result: expect.objectContaining({ hasAccounting: false }),
      error: expect.stringMatching(/^Jobs are not recorded on slurm-ctl-01: it has no accounting\. Set up slurmdbd/),
    })
  })

  describe('with other logins', () => {
    afterEach(() => fixture.logInWith(CONTROLLER, fixture.key.id))

    it('tolerates banners, other shells and variables of the account', async () => {
      const before = await fixture.stored(cluster)
      const { sudoPassword, plainPassword } = lab.credentials
      const setup = `set -e
        printf 'echo Welcome to the cluster; echo 3 new messages >&2\\nexport SQUEUE_FORMAT=%%i SINFO_FORMAT=%%n SLURM_TIME_FORMAT=relative LC_ALL=de_DE.UTF-8 SQUEUE_USERS=nobody SLURM_CLUSTERS=other\\n' > /home/admin/.bashrc
        printf 'echo Welcome from csh\\nsetenv SQUEUE_FORMAT %%i\\nsetenv SQUEUE_PARTITION none\\nset prompt="> "\\n' > /home/plain/.cshrc
        sed -i '/^plain:/s#/bin/bash#/usr/bin/csh#' /etc/passwd`
      expect(await lab.slurm!.run(['sh', '-c', setup])).toMatchObject({ code: 0, stderr: '' })
      for (const login of [sudoPassword!, plainPassword!]) {
        const credential = await createCredential(fixture.admin, { name: login.username, kind: 'SSH_PASSWORD', ...login })
        await fixture.logInWith(CONTROLLER, credential.id)
        expect(await fixture.refresh(cluster)).toMatchObject({ lastError: null, version: '22.05.8' })
        expect(shapeOf(await fixture.stored(cluster))).toEqual(shapeOf(before))
      }
    })
  })

  // A day of refreshes; in `npm test` a few of them.
  it('writes no file and no setting of a cluster that it reuses', async () => {
    const { username, privateKey } = lab.credentials.rootKey!
    const root = await createCredential(fixture.admin, { name: 'root', kind: 'SSH_KEY', username, privateKey })
    await fixture.logInWith(CONTROLLER, root.id)
    const files = 'find /etc/slurm /etc/munge -type f -exec stat -c "%n %U %a %Y" {} + -exec sha256sum {} + | sort'
    const settings = 'scontrol show config | grep -v "^Configuration data as of"'
    const snapshot = async () => {
      const found = lab.nodes.map((node) => node.exec(['sh', '-c', files]))
      return [...(await Promise.all(found)), await lab.slurm!.run(['sh', '-c', settings])].map(({ stdout }) => stdout)
    }
    const before = await snapshot()
    expect(before.join()).toMatch(/slurm\.conf[\s\S]*munge\.key[\s\S]*SlurmctldHost\[0\]/)
    for (let i = 0; i < scaleIterations(2880, 0.001); i++) {
      expect((await fixture.refresh(cluster)).lastError).toBeNull()
      if (i % 120 !== 0) continue
      await fixture.testController(CONTROLLER)
      await fixture.act(cluster, { verb: 'DRAIN_NODES', nodes: { hostlist: 'cpu-01' } })
      await fixture.act(cluster, { verb: 'UNDRAIN_NODES', nodes: { hostlist: 'cpu-01' } })
      await fixture.act(cluster, { verb: 'UPDATE_JOBS', jobs: { ids: [running] }, timeLimitMinutes: 120 })
    }
    expect(await snapshot()).toEqual(before)
    await fixture.logInWith(CONTROLLER, fixture.key.id)
  })

  it('reads the same through slurmrestd, and uses commands while it is stopped', async () => {
    const socket = '/tmp/slurmrestd.socket'
    const reports = async () => {
      const { lastError, queries } = await fixture.refresh(cluster)
      expect(lastError).toBeNull()
      const of = (query: string) => queries.find((report) => report.query === query)!
      return {
        nodes: of('nodes').command,
        jobs: of('jobs').command,
        scheduler: of('scheduler').command,
        slurmrestd: of('slurmrestd'),
      }
    }
    await fixture.refresh(cluster)
    const commands = comparable(await fixture.stored(cluster))
    // Debian's slurmrestd loads its plugin for slurmdbd by default, which fails without accounting.
    const stop = await startSlurmrestd(lab, `unix:${socket}`, { plugins: ['openapi/v0.0.38'] })
    await updateSlurmCluster(fixture.admin, { id: cluster.id, slurmrestdSocket: socket })
    expect(await reports()).toMatchObject({
      nodes: 'GET /slurm/v0.0.38/nodes/',
      jobs: 'GET /slurm/v0.0.38/jobs/',
      scheduler: 'GET /slurm/v0.0.38/diag/',
      slurmrestd: { state: 'OK', detail: `unix:${socket}: Slurm 22.05.8, API v0.0.38` },
    })
    expect(comparable(await fixture.stored(cluster))).toEqual(commands)
    await stop()
    expect(await reports()).toMatchObject({
      nodes: 'sinfo --all --json',
      scheduler: 'sdiag',
      slurmrestd: { state: 'FAILED', detail: expect.stringContaining('the host does not connect to the socket') },
    })
    expect(comparable(await fixture.stored(cluster))).toEqual(commands)
    await updateSlurmCluster(fixture.admin, { id: cluster.id, slurmrestdSocket: null })
  })

  describe('with a fault', () => {
    afterEach(async () => {
      await lab.heal()
      await updateSlurmCluster(fixture.admin, {
        id: cluster.id,
        controllerNodeId: fixture.nodeId(CONTROLLER),
        backupNodeId: null,
      })
      await expect.poll(async () => (await fixture.refresh(cluster)).lastError).toBeNull()
    })

    /** Refreshes, and checks that the data of the last success is kept with its time. */
    async function after(before: SlurmCluster, data: Awaited<ReturnType<SlurmFixture['stored']>>) {
      const failed = await fixture.refresh(cluster)
      expect(await fixture.stored(cluster)).toEqual(data)
      expect(failed).toMatchObject({ refreshedAt: before.refreshedAt, controllers: before.controllers, version: before.version })
      expect(failed.failingSince).not.toBeNull()
      return failed
    }

    it('shows a node that rebooted unexpectedly with the reason of Slurm', async () => {
      // Slurm takes a node as rebooted only when it booted after its last message; both times are whole seconds. A restarted controller
      // has had no message yet, so this test precedes those that restart it.
      await lab.fault('mig-01', 'reboot', { downMs: 3000 })
      const rebooted = async () => {
        await fixture.refresh(cluster)
        return (await fixture.stored(cluster)).nodes.find(({ name }) => name === 'mig-01')!
      }
      await expect.poll(async () => (await rebooted()).states).toContain('DOWN')
      expect((await rebooted()).report.reason).toBe('Node unexpectedly rebooted')
      await lab.slurm!.run(['scontrol', 'update', 'nodename=mig-01', 'state=resume'])
    })

    it.each([...FAULTS, ...(isLong ? LONG_FAULTS : [])])(
      '%s %o: keeps the last data and says what failed',
      async (fault, args, message) => {
        const before = await fixture.refresh(cluster)
        expect(before.lastError).toBeNull()
        const data = await fixture.stored(cluster)
        await lab.fault(CONTROLLER, fault, args)
        expect((await after(before, data)).lastError).toMatch(message)
      },
    )

    it.each([...CLIENT_FAULTS, ...(isLong ? LONG_CLIENT_FAULTS : [])])(
      '%s %o on the host where commands run: names munge',
      async (fault, args, message) => {
        await updateSlurmCluster(fixture.admin, { id: cluster.id, controllerNodeId: fixture.nodeId('cpu-01') })
        const before = await fixture.refresh(cluster)
        const data = await fixture.stored(cluster)
        await lab.fault('cpu-01', fault, args)
        expect((await after(before, data)).lastError).toMatch(message)
      },
    )

    it('asks the second host when the first one does not answer', async () => {
      await updateSlurmCluster(fixture.admin, { id: cluster.id, backupNodeId: fixture.nodeId('cpu-01') })
      await lab.fault(CONTROLLER, 'sshd-stop')
      expect(await fixture.refresh(cluster)).toMatchObject({ lastError: null, failingSince: null, clusterName: 'lab' })
    })

    it('connects again after the SSH server of the controller has restarted', async () => {
      await lab.fault(CONTROLLER, 'sshd-stop')
      await lab.heal(CONTROLLER)
      expect((await fixture.refresh(cluster)).lastError).toBeNull()
    })

    it('reads a controller with a full disk', async () => {
      // Nodes are UNKNOWN until they register with a slurmctld that was restarted.
      await lab.slurm!.ready()
      await fixture.refresh(cluster)
      const before = shapeOf(await fixture.stored(cluster))
      await lab.fault(CONTROLLER, 'full-disk')
      expect(await fixture.refresh(cluster)).toMatchObject({ lastError: null })
      expect(shapeOf(await fixture.stored(cluster))).toEqual(before)
    })
  })

  it('stores the resources of jobs in whatever way they were requested, and how jobs ended', async () => {
    const options = ['--hold', '--partition=gpu', '--mem=1G']
    const submit = (...more: string[]) => lab.slurm!.submit('sleep 3600', [...options, ...more])
    const expected = new Map<string, [type: string | null, count: number][]>([
      [await submit('--gpus=4'), [[null, 4]]],
      [await submit('--gpus=h100:2'), [['h100', 2]]],
      [await submit('--gpus-per-node=h100:1', '--nodes=2'), [['h100', 2]]],
      [await submit('--gpus-per-task=1', '--ntasks=3'), [[null, 3]]],
      [await submit('--gres=gpu:h100:3', '--licenses=matlab:2,ansys@server:1'), [['h100', 3]]],
    ])
    const failed = await lab.slurm!.submit('exit 3', ['--mem=1G'])
    await expect
      .poll(async () => (await lab.slurm!.run(['scontrol', 'show', 'job', failed])).stdout)
      .toMatch(/JobState=FAILED[\s\S]*ExitCode=3:0/)
    const started = await lab.slurm!.submit('sleep 3600', ['--licenses=matlab:3'])
    await expect
      .poll(async () => (await lab.slurm!.run(['squeue', '--noheader', '--format=%T', `--jobs=${started}`])).stdout)
      .toBe('RUNNING\n')
    const { licenses } = await fixture.refresh(cluster)
    expect(licenses).toEqual([
      { name: 'ansys@server', total: 5, used: 0, free: 5, reserved: 0, isRemote: false },
      { name: 'matlab', total: 10, used: 3, free: 7, reserved: 0, isRemote: false },
    ])
    const { jobs } = await fixture.stored(cluster)
    const reportOf = (id: string) => jobs.find(({ jobId }) => jobId === id)!.report
    for (const [id, gpus] of expected) {
      expect(reportOf(id).gres).toEqual(gpus.map(([type, count]) => ({ name: 'gpu', type, count, indexes: null })))
      expect(reportOf(id)).toMatchObject({ tres: { mem: 1024 * reportOf(id).nodeCount }, exitCode: null })
    }
    expect(
      reportOf([...expected.keys()].at(-1)!)
        .licenses?.split(',')
        .sort(),
    ).toEqual(['ansys@server:1', 'matlab:2'])
    expect(reportOf(failed)).toMatchObject({ states: ['FAILED'], gres: [], exitCode: { code: 3, signal: 0 } })
    expect(reportOf(running)).toMatchObject({ gres: [{ type: 'h100', count: 4 }], tres: { cpu: 8, mem: 8000, node: 1 } })
  })
})

type Stored = Awaited<ReturnType<SlurmFixture['stored']>>
/** What does not change while nothing happens on the cluster. */
const shapeOf = ({ nodes, partitions, jobs }: Stored) => ({
  nodes: nodes.map(({ name, states, nodeId }) => ({ name, states, nodeId })),
  partitions: partitions.map(({ name, report }) => ({ name, report })),
  jobs: jobs.map(({ jobId, state, userName, report: { name } }) => ({ jobId, state, userName, name })),
})
