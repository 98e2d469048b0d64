import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { canRunSlurm } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { describe, expect, it, vi } from 'vitest'
import { createSlurmFixture, type SlurmFixture } from '../testing/slurm-fixture.ts'

/** Folder with slurm-VERSION.tar.zst, each built for /opt/slurm-VERSION: `npm run test:long -- --slurm-lab DIR`. */
const folder = process.env.MUSTER_SLURM_LAB

describe.runIf(folder && canRunSlurm())('the refresh of further releases of Slurm', () => {
  it.each(['23.11', '25.11'])('stores the nodes, partitions and jobs of %s', async (version) => {
    const unpacked = mkdtempSync(path.join(tmpdir(), 'muster-slurm-'))
    let fixture: SlurmFixture | undefined
    try {
      execFileSync('tar', ['--zstd', '-xf', path.join(folder!, `slurm-${version}.tar.zst`), '-C', unpacked])
      const lab = await createLab({
        nodes: [
          { name: 'gpu-01', profile: 'h100x8' },
          { name: 'mig-01', profile: 'h100x8-mig' },
        ],
        slurm: { release: { folder: path.join(unpacked, `slurm-${version}`), prefix: `/opt/slurm-${version}` } },
      })
      const job = await lab.slurm!.submit('sleep 3600', ['--gres=gpu:h100:4', '--nodelist=gpu-01', '--job-name=a "b" | ü'])
      await vi.waitFor(
        async () => expect((await lab.slurm!.run(['squeue', '--noheader', '--format=%T'])).stdout).toBe('RUNNING\n'),
        { timeout: 60_000 },
      )
      const perTask = await lab.slurm!.submit('true', ['--hold', '--gpus-per-task=h100:1', '--ntasks=3', '--mem=1G'])
      const failed = await lab.slurm!.submit('exit 3', ['--mem=1G'])
      await vi.waitFor(
        async () =>
          expect((await lab.slurm!.run(['scontrol', 'show', 'job', failed])).stdout).toMatch(
            /JobState=FAILED[\s\S]*ExitCode=3:0/,
          ),
        { timeout: 60_000 },
      )
      fixture = await createSlurmFixture(lab)
      const cluster = await fixture.adopt('slurm-ctl-01', { programFolder: lab.slurm!.programFolder })
      expect(cluster).toMatchObject({
        lastError: null,
        clusterName: 'lab',
        version: expect.stringContaining(version),
        controllers: [{ role: 'primary', hostname: 'slurm-ctl-01', isUp: true }],
        scheduler: { jobs: { submitted: 3, started: 2 } },
      })
      const { nodes, partitions, jobs } = await fixture.stored(cluster)
      expect(nodes).toMatchObject([
        { name: 'gpu-01', state: 'MIXED', partitions: ['batch', 'gpu'], gpus: 8, allocatedGpus: 4, matchedBy: 'ADDRESS' },
        { name: 'mig-01', state: 'IDLE', gpus: 12, allocatedGpus: 0, matchedBy: 'ADDRESS' },
      ])
      expect(partitions.map(({ name }) => name)).toEqual(['batch', 'gpu'])
      const gpus = (count: number) => [{ name: 'gpu', type: 'h100', count, indexes: null }]
      expect(jobs).toMatchObject([
        { jobId: job, state: 'RUNNING', userName: 'ops', report: { name: 'a "b" | ü', gres: gpus(4), tres: { node: 1 } } },
        { jobId: perTask, state: 'PENDING', report: { gres: gpus(3), tres: { cpu: 3, mem: 1024 }, exitCode: null } },
        { jobId: failed, state: 'FAILED', report: { gres: [], exitCode: { code: 3, signal: 0 } } },
      ])
    } finally {
      await fixture?.close()
      rmSync(unpacked, { recursive: true, force: true })
    }
  })
})
