import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type SlurmCluster, updateSlurmCluster } from '@muster/core/clusters'
import { createCredential, updateCredential } from '@muster/core/credentials'
import { canRunSlurm, type OwnedLab } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { describe, expect, it, vi } from 'vitest'
import { createSlurmFixture, type SlurmFixture } from '../testing/slurm-fixture.ts'
import {
  acceptTokens,
  comparable,
  createToken,
  provideJwtLibraries,
  startSlurmrestd,
  startTlsProxy,
} from '../testing/slurmrestd.ts'

/** Folder with slurm-VERSION.tar.zst, each built for /opt/slurm-VERSION: `npm run test:long -- --slurm-lab DIR`. */
const folder = process.env.MUSTER_SLURM_LAB

describe.runIf(folder && canRunSlurm())('the refresh of further releases of Slurm', () => {
  it.each(['23.11', '25.11'])(
    'stores the nodes, partitions and jobs of %s, read with commands and through slurmrestd',
    async (version) => {
      const unpacked = mkdtempSync(path.join(tmpdir(), 'muster-slurm-'))
      let fixture: SlurmFixture | undefined
      try {
        execFileSync('tar', ['--zstd', '-xf', path.join(folder!, `slurm-${version}.tar.zst`), '-C', unpacked])
        const folderOfRelease = path.join(unpacked, `slurm-${version}`)
        provideJwtLibraries(folderOfRelease)
        const lab = await createLab({
          nodes: [
            { name: 'gpu-01', profile: 'h100x8' },
            { name: 'mig-01', profile: 'h100x8-mig' },
          ],
          slurm: { release: { folder: folderOfRelease, prefix: `/opt/slurm-${version}` } },
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
        await readThroughSlurmrestd(lab, fixture, cluster)
      } finally {
        await fixture?.close()
        rmSync(unpacked, { recursive: true, force: true })
      }
    },
  )
})

/** Compares what slurmrestd reports, over its socket and with a token over TLS, with the output of the commands. */
async function readThroughSlurmrestd(lab: OwnedLab, fixture: SlurmFixture, { id }: SlurmCluster): Promise<void> {
  const { admin } = fixture
  const configure = (fields: object) => updateSlurmCluster(admin, { id, ...fields })
  const refresh = async () => {
    const { lastError, queries } = await fixture.refresh({ id })
    expect(lastError).toBeNull()
    const { detail, hint } = queries.find(({ query }) => query === 'slurmrestd') ?? { detail: '', hint: '' }
    return {
      requests: queries.filter(({ command }) => command.startsWith('GET ')).map(({ query, state }) => `${query} ${state}`),
      problem: `${detail} ${hint}`,
    }
  }
  // squeue and slurmrestd cut the list of tasks at 64 characters by default.
  const tasks = Array.from({ length: 30 }, (_, i) => i * 3 + (i % 2)).join(',')
  await lab.slurm!.submit('sleep 3600', [`--array=${tasks}%4`, '--hold', '--comment=it is "an" | array'])
  expect((await refresh()).requests).toEqual([])
  const commands = comparable(await fixture.stored({ id }))
  const plugins = ['openapi/slurmctld']
  const environment = ['SLURM_BITSTR_LEN=2000']

  const stop = await startSlurmrestd(lab, 'unix:/tmp/slurmrestd.socket', { plugins, environment })
  await configure({ slurmrestdSocket: '/tmp/slurmrestd.socket' })
  // The statistics of slurmrestd 23.11 lack a number that sdiag prints.
  const complete = expect.arrayContaining(['nodes OK', 'jobs OK', 'slurmrestd OK'])
  expect((await refresh()).requests).toEqual(complete)
  const { jobs } = await fixture.stored({ id })
  expect(comparable(await fixture.stored({ id }))).toEqual(commands)
  expect(jobs.find(({ state }) => state === 'FAILED')!.report).toMatchObject({ exitCode: { code: 3, signal: 0 } })
  await stop()
  expect((await refresh()).problem).toMatch(/does not connect to the socket/)
  expect(comparable(await fixture.stored({ id }))).toEqual(commands)

  await acceptTokens(lab)
  await lab.slurm!.ready()
  await configure({ slurmrestdSocket: null })
  expect((await refresh()).requests).toEqual([])
  const restarted = comparable(await fixture.stored({ id }))
  const stopTcp = await startSlurmrestd(lab, '0.0.0.0:6820', { plugins, environment })
  const proxy = await startTlsProxy(lab.slurm!.controllers[0]!.host, 6820)
  try {
    const token = await createToken(lab, 3600)
    const login = { host: '127.0.0.1', port: proxy.port, username: 'root', password: token }
    const credential = await createCredential(admin, { name: 'slurmrestd', kind: 'SLURMRESTD', ...login })
    await configure({ slurmrestdCredentialId: credential.id, slurmrestdCaCertificate: proxy.caCertificate })
    const replaceToken = (password: string) => updateCredential(admin, { id: credential.id, password })
    expect((await refresh()).requests).toEqual(complete)
    expect(comparable(await fixture.stored({ id }))).toEqual(restarted)

    await replaceToken(`${token.slice(0, -8)}AAAAAAAA`)
    expect((await refresh()).problem).toMatch(/Check the user name and the token of the credential slurmrestd/)
    const short = await createToken(lab, 1)
    await replaceToken(short)
    await expect.poll(async () => (await refresh()).problem, { timeout: 20_000 }).toMatch(/The token .* expired at 20/)
    expect(comparable(await fixture.stored({ id }))).toEqual(restarted)
    await replaceToken(token)
    expect((await refresh()).requests).toEqual(complete)
    expect(JSON.stringify(await fixture.read({ id }))).not.toContain(token)
  } finally {
    await proxy.close()
    await stopTcp()
  }
}
