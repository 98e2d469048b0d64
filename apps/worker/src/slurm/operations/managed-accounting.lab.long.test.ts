import { removeSlurmCluster } from '@muster/core/clusters'
import type { SlurmOperation } from '@muster/core/slurm-operations'
import { createSlurmCluster } from '@muster/core/slurm-scaling'
import { canRunSlurm } from '@muster/lab'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createManagedLab, LAB_LINES, type ManagedLab } from '../../testing/managed-lab.ts'

const LONG = { timeout: 900_000, interval: 300 }
type CreateInput = Parameters<typeof createSlurmCluster>[1]
const FOLDER = '/run/munge-dbd'
const SOCKET = `${FOLDER}/socket`

describe.runIf(canRunSlurm())('accounting of managed clusters', () => {
  let m: ManagedLab
  beforeAll(async () => {
    m = await createManagedLab(['ctl-a', 'backup-a', 'login-a', 'cpu-a', 'db', 'ctl-b', 'cpu-b'])
  }, 300_000)
  afterAll(() => m?.close())

  const create = (
    name: string,
    [controller, compute]: [string, string],
    accounting: CreateInput['accounting'],
    { lines = [], ...more }: Partial<CreateInput> & { lines?: string[] } = {},
  ) =>
    createSlurmCluster(m.fixture.admin, {
      name,
      controllerNodeId: m.id(controller),
      computeNodeIds: [m.id(compute)],
      ...more,
      accounting,
      repositoryUrl: m.repository.url,
      extraLines: [...LAB_LINES, ...lines],
      reason: 'test',
    })
  const createBeta = (lines: string[] = []) =>
    create('beta', ['ctl-b', 'cpu-b'], { kind: 'EXISTING', host: `${m.lab.node('db').host}:6819` }, { lines })

  /** A job of the cluster ends, and slurmdbd has it. */
  async function expectRecorded(controller: string, cluster: string): Promise<void> {
    const job = await m.on(controller, 'sbatch --parsable --chdir=/tmp --output=/dev/null --wrap=true')
    const record = `sacct --clusters=${cluster} --jobs=${job} --noheader --parsable2 --allocations --format=JobID,State,Cluster`
    await vi.waitFor(async () => expect(await m.on(controller, record)).toBe(`${job}|COMPLETED|${cluster}`), LONG)
  }
  /** The files and processes of the host of slurmdbd, and what its database knows about clusters. */
  const stateOfDatabase = async () => ({
    files: await m.on('db', 'find /etc/slurm /etc/munge /etc/systemd/system -type f -exec sha256sum {} + | sort'),
    processes: await m.on('db', 'pgrep -x slurmdbd; pgrep -x munged; pgrep -x mariadbd'),
    clusters: await m.on('ctl-a', 'sacctmgr --noheader --parsable2 list cluster format=Cluster,ControlHost'),
  })
  const expectRemoved = async ({ id }: SlurmOperation) => {
    expect((await m.operation(id)).error).not.toContain('Not undone')
    expect(await m.on('ctl-b', 'ls -d /etc/munge/munge.key /etc/slurm /usr/sbin/slurmctld 2>/dev/null')).toBe('')
    expect(await m.on('cpu-b', 'ls -d /etc/munge/munge.key /etc/slurm /usr/sbin/slurmd 2>/dev/null')).toBe('')
  }

  it('installs slurmdbd and MariaDB, a backup controller and a login node on nodes of their own', {
    timeout: 900_000,
  }, async () => {
    const row = await create(
      'alpha',
      ['ctl-a', 'cpu-a'],
      { kind: 'MANAGED', nodeId: m.id('db') },
      { backupNodeId: m.id('backup-a'), loginNodeIds: [m.id('login-a')], stateFolder: '/mnt/shared/slurm' },
    )
    expect(await m.ended(row)).toEqual({ status: 'SUCCEEDED', error: null, nodes: [['cpu-a', 'IN_SERVICE', null]] })
    expect(await m.on('ctl-a', 'pgrep -x slurmdbd; pgrep -x mariadbd; ls -d /etc/slurm/slurmdbd.conf /usr/sbin/slurmdbd')).toBe(
      '',
    )
    expect(await m.on('db', 'pgrep -cx slurmctld; stat --format="%U %a" /etc/slurm/slurmdbd.conf')).toBe('0\nslurm 600')
    const ping = () => m.on('login-a', 'scontrol ping')
    await vi.waitFor(async () => expect(await ping()).toMatch(/primary\) at ctl-a is UP\n.*backup.*\) at backup-a is UP/), LONG)
    expect(await m.on('login-a', 'ls -d /usr/sbin/slurmctld /usr/sbin/slurmd 2>/dev/null')).toBe('')
    expect(await m.on('login-a', 'srun hostname')).toBe('cpu-a')
    await expectRecorded('login-a', 'alpha')
    await m.on('ctl-a', 'systemctl stop slurmctld; scontrol takeover 1')
    await vi.waitFor(async () => expect(await m.on('login-a', 'srun hostname')).toBe('cpu-a'), LONG)
    await m.on('ctl-a', 'systemctl start slurmctld')
    await vi.waitFor(async () => expect(await ping()).toMatch(/ctl-a is UP\n.*backup-a is UP/), LONG)
    const password = await m.on('db', 'sed -n s/^StoragePass=//p /etc/slurm/slurmdbd.conf')
    expect(password).toMatch(/^[\w-]{32}$/)
    const { rows } = await m.t.runtime.db.execute(
      sql`select 1 from job_run_events e where e::text like ${`%${password}%`} union select 1 from job_runs r where r::text like ${`%${password}%`}`,
    )
    expect(rows).toEqual([])
  })

  it('is undone when an existing slurmdbd has another munge key', { timeout: 900_000 }, async () => {
    const before = await stateOfDatabase()
    const row = await createBeta()
    expect(await m.ended(row)).toMatchObject({
      status: 'FAILED',
      error: expect.stringMatching(/slurmdbd on \S+ does not answer, or does not accept the munge key of the cluster/),
    })
    await expectRemoved(row)
    expect(await stateOfDatabase()).toEqual(before)
    await removeSlurmCluster(m.fixture.admin, { id: row.clusterId })
  })

  /** Lets the admin start a second munged with the key of slurmdbd, after the creation has installed munge. */
  async function withSecondMunged(row: SlurmOperation): Promise<void> {
    await m.held()
    const key = await m.on('db', 'base64 -w0 /etc/munge/munge.key')
    // An account and a folder of its own: the removal of the package deletes those of munge.
    const script = `mkdir -p ${FOLDER}; umask 077; base64 -d > ${FOLDER}/key; chown -R daemon ${FOLDER}`
    await m.lab.node('ctl-b').exec(['sh', '-c', script], { input: key })
    const files = ['key-file=key', 'socket=socket', 'pid-file=pid', 'log-file=log', 'seed-file=seed'].map(
      (option) => `--${option.replace('=', `=${FOLDER}/`)}`,
    )
    await m.on('ctl-b', `setpriv --reuid=daemon --regid=daemon --clear-groups munged ${files.join(' ')}`)
    expect(await m.on('ctl-b', `munge --no-input --socket=${SOCKET} | unmunge --socket=${SOCKET} | grep -c Success`)).toBe('1')
    await m.releaseStep()
    expect((await m.operation(row.id)).finishedAt).toBeNull()
  }

  it('is undone when an existing slurmdbd does not list the cluster', { timeout: 900_000 }, async () => {
    const before = await stateOfDatabase()
    await m.holdStep('install Slurm')
    const unlisted = await createBeta([`AccountingStoragePass=${SOCKET}`])
    await withSecondMunged(unlisted)
    expect(await m.ended(unlisted)).toMatchObject({
      status: 'FAILED',
      error: expect.stringMatching(
        /has no cluster beta, and Muster does not write its database. Add it there with `sacctmgr add/,
      ),
    })
    await expectRemoved(unlisted)
    expect(await stateOfDatabase()).toEqual(before)
    await removeSlurmCluster(m.fixture.admin, { id: unlisted.clusterId })
  })
})
