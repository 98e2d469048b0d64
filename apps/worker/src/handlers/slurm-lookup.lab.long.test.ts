import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { lookUpSlurmJobs, lookUpSlurmPriority, type SlurmLookup } from '@muster/core/clusters'
import { canRunSlurm, type OwnedLab } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createSlurmFixture, type SlurmFixture } from '../testing/slurm-fixture.ts'

/** Folder with slurm-VERSION.tar.zst, each built for /opt/slurm-VERSION: `npm run test:long -- --slurm-lab DIR`. */
const folder = process.env.MUSTER_SLURM_LAB
const RELEASES = ['22.05', ...(folder ? ['23.11', '25.11'] : [])]

const config = {
  ...{ JobAcctGatherType: 'jobacct_gather/linux', JobAcctGatherFrequency: '1', AccountingStoreFlags: 'job_comment' },
  ...{ SchedulerParameters: 'sched_interval=2,bf_interval=2', PriorityWeightPartition: '1000' },
  // Jobs leave the queue soon after their end.
  MinJobAge: '2',
}

describe.runIf(canRunSlurm()).each(RELEASES)('lookups in a cluster of %s with slurmdbd', (version) => {
  const unpacked = mkdtempSync(path.join(tmpdir(), 'muster-slurm-'))
  let lab: OwnedLab
  let fixture: SlurmFixture
  let clusterId: string
  let failed: string
  const endedOf = async (): Promise<number> => {
    const { stdout } = await lab.slurm!.run(['sacct', '--allusers', '--allocations', '--noheader', '--format=State,End'])
    return stdout.split('\n').filter((line) => /COMPLETED|FAILED|CANCELLED/.test(line)).length
  }
  beforeAll(async () => {
    const release = { folder: path.join(unpacked, `slurm-${version}`), prefix: `/opt/slurm-${version}` }
    if (version !== '22.05')
      execFileSync('tar', ['--zstd', '-xf', path.join(folder!, `slurm-${version}.tar.zst`), '-C', unpacked])
    lab = await createLab({
      nodes: [{ name: 'gpu-01', profile: 'h100x8' }],
      slurm: { accounting: true, config, ...(version === '22.05' ? {} : { release }) },
    })
    const { ready, run, submit } = lab.slurm!
    await ready()
    await run(['sacctmgr', '-i', 'add', 'account', 'ml', 'fairshare=3'])
    await run(['sacctmgr', '-i', 'add', 'user', 'ops', 'account=ml', 'fairshare=5'])
    await submit('sleep 1', ['--array=0-2', '--account=ml'])
    const script = 'python3 -c "x = bytearray(90000000); import time; time.sleep(4)"; srun sleep 1; exit 3'
    failed = await submit(script, ['--account=ml', '--gres=gpu:h100:2', '--job-name=a | "b"\nline', '--comment=c\n3|3|x'])
    const canceled = await submit('sleep 600', ['--account=ml', '--partition=gpu'])
    await vi.waitFor(async () => expect(await endedOf()).toBe(4), { timeout: 90_000, interval: 500 })
    await run(['scancel', canceled])
    await vi.waitFor(async () => expect(await endedOf()).toBe(5), { timeout: 90_000, interval: 500 })
    fixture = await createSlurmFixture(lab, { queryTimeoutMs: 20_000 })
    const { programFolder } = lab.slurm!
    clusterId = (await fixture.adopt('slurm-ctl-01', programFolder ? { programFolder } : {})).id
  }, 240_000)
  afterAll(async () => {
    await fixture?.close()
    rmSync(unpacked, { recursive: true, force: true })
  })

  const ended = async (input: Partial<Parameters<typeof lookUpSlurmJobs>[1]> = {}): Promise<SlurmLookup> =>
    fixture.lookUp(await lookUpSlurmJobs(fixture.admin, { clusterId, ...input }))
  const idsOf = ({ result }: SlurmLookup) => result!.jobs.map(({ jobId }) => jobId)

  it('lists finished jobs in pages, the newest first', async () => {
    const all = await ended()
    expect(all).toMatchObject({ error: null, result: { next: null } })
    expect(all.result!.jobs).toHaveLength(5)
    const ends = all.result!.jobs.map(({ endAt }) => String(endAt))
    expect(ends).toEqual([...ends].sort().reverse())
    const pages: string[] = []
    let after: string | null = null
    for (let page = 1; ; page++) {
      expect(page).toBeLessThanOrEqual(5)
      const { result } = await ended({ limit: 2, ...(after ? { after } : {}) })
      pages.push(...result!.jobs.map(({ jobId }) => jobId))
      if (!result!.next) break
      const { endSeconds, id } = result!.next
      after = id === null ? `${endSeconds}` : `${endSeconds}-${id}`
    }
    expect(pages).toEqual(idsOf(all))
  })

  it('filters by user, account, partition, state, node and time', async () => {
    expect(idsOf(await ended({ state: ['FAILED'] }))).toEqual([failed])
    expect((await ended({ state: ['CANCELLED'] })).result!.jobs).toMatchObject([{ canceledBy: 0, partition: 'gpu' }])
    expect(idsOf(await ended({ user: ['ops'], account: ['ml'], partition: ['batch'], node: 'gpu-[01-02]' }))).toHaveLength(4)
    expect(idsOf(await ended({ account: ['other'] }))).toEqual([])
    expect(idsOf(await ended({ user: ['root'] }))).toEqual([])
    expect(idsOf(await ended({ until: new Date(Date.now() - 3_600_000) }))).toEqual([])
    expect((await ended({ user: ['nobody9'] })).error).toMatch(/^sacct failed: .*Invalid user id: nobody9\. The host of the/)
  })

  it('shows a job that slurmctld has forgotten, with steps, exit code, memory and CPU time', async () => {
    const squeue = ['squeue', '--all', '--states=all', '--noheader', '--format=%i', `--jobs=${failed}`]
    // purge_job runs every 30 s or so.
    await vi.waitFor(async () => expect((await lab.slurm!.run(squeue)).stdout).toBe(''), { timeout: 90_000, interval: 1000 })
    const { result, error } = await ended({ jobId: failed })
    expect(error).toBeNull()
    expect(result!.jobs).toMatchObject([
      {
        ...{ jobId: failed, name: 'a | `b`\nline', comment: 'c\n3|3|x', user: 'ops', account: 'ml', nodes: 'gpu-01' },
        ...{ state: 'FAILED', exitCode: { code: 3, signal: 0 }, tres: { 'gres/gpu': 2 } },
        steps: [
          { stepId: 'batch', exitCode: { code: 3 }, maxTaskMemoryNode: 'gpu-01' },
          { stepId: '0', name: 'sleep', state: 'COMPLETED', tasks: 1 },
        ],
      },
    ])
    expect(result!.jobs[0]!.memoryBytes).toBeGreaterThan(90_000_000)
    expect(result!.jobs[0]!.cpuSeconds).toBeGreaterThan(0)
    expect(idsOf(await ended({ jobId: '1_2' }))).toEqual(['1_2'])
    expect(idsOf(await ended({ jobId: '1' })).sort()).toEqual(['1_0', '1_1', '1_2'])
    expect(idsOf(await ended({ jobId: '99999' }))).toEqual([])
  })

  it('shows the priority factors and shares of a pending job', async () => {
    const first = await lab.slurm!.submit('sleep 600', ['--account=ml', '--exclusive', '--job-name=holds'])
    const state = ['squeue', '--noheader', '--format=%T', `--jobs=${first}`]
    const waiting = { timeout: 60_000, interval: 500 }
    await vi.waitFor(async () => expect((await lab.slurm!.run(state)).stdout).toBe('RUNNING\n'), waiting)
    const waits = await lab.slurm!.submit('sleep 600', ['--account=ml', '--partition=gpu,batch', '--exclusive', '--nice=70'])
    await fixture.refresh({ id: clusterId })
    const { result, error } = await fixture.lookUp(await lookUpSlurmPriority(fixture.admin, { clusterId, jobId: waits }))
    expect([error, result!.priorities.map(({ partition }) => partition).sort()]).toEqual([null, ['batch', 'gpu']])
    for (const { priority, factors } of result!.priorities)
      expect(Math.abs(factors.reduce((sum, { points }) => sum + points, 0) - priority)).toBeLessThanOrEqual(1)
    expect(result!.priorities[0]!.factors).toContainEqual({ factor: 'NICE', resource: null, points: -70, value: null })
    expect(result!.shares).toMatchObject([
      { account: 'ml', user: null, shares: 3 },
      { account: 'ml', user: 'ops', shares: 5, normalizedShares: 1 },
    ])
    await lab.slurm!.run(['scancel', first, waits])
  })

  it('reports that slurmdbd does not answer', async () => {
    await lab.slurm!.run(['pkill', '-STOP', '-x', 'slurmdbd'])
    try {
      expect((await ended()).error).toMatch(/^sacct failed: .*slurmdbd does not answer/s)
    } finally {
      await lab.slurm!.run(['pkill', '-CONT', '-x', 'slurmdbd'])
    }
  })
})
