import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import {
  createSlurmCluster,
  previewSlurmScaleIn,
  previewSlurmScaleOut,
  scaleInSlurmCluster,
  scaleOutSlurmCluster,
} from '@muster/core/slurm-scaling'
import { canRunSlurm } from '@muster/lab'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createManagedLab, LAB_LINES, type ManagedLab } from '../../testing/managed-lab.ts'

/** Folder with slurm-VERSION.tar.zst, each built for /opt/slurm-VERSION: `npm run test:long -- --slurm-lab DIR`. */
const builds = process.env.MUSTER_SLURM_LAB

describe.runIf(canRunSlurm() && builds).each(['23.11', '25.11'])('a managed cluster of Slurm %s at a prefix', (version) => {
  const prefix = `/opt/slurm-${version}`
  const unpacked = mkdtempSync(path.join(tmpdir(), 'muster-slurm-'))
  let m: ManagedLab
  let clusterId: string
  beforeAll(async () => {
    execFileSync('tar', ['--zstd', '-xf', path.join(builds!, `slurm-${version}.tar.zst`), '-C', unpacked])
    const folders = [{ folder: path.join(unpacked, `slurm-${version}`), path: prefix }]
    m = await createManagedLab(['ctl', 'cpu-1', 'cpu-2', 'login'], { folders })
  }, 300_000)
  afterAll(async () => {
    await m?.close()
    rmSync(unpacked, { recursive: true, force: true })
  })

  const installed = (node: string) => m.on(node, 'ls /usr/sbin/slurmctld /usr/sbin/slurmd /usr/bin/sinfo 2>/dev/null')
  const hosts = (node: string) => m.on(node, `${prefix}/bin/srun --ntasks=1 hostname`)

  it('is created, and runs jobs', { timeout: 900_000 }, async () => {
    const row = await createSlurmCluster(m.fixture.admin, {
      name: 'alpha',
      controllerNodeId: m.id('ctl'),
      computeNodeIds: [m.id('cpu-1')],
      loginNodeIds: [m.id('login')],
      prefix,
      repositoryUrl: m.repository.url,
      extraLines: LAB_LINES,
      reason: 'test',
    })
    clusterId = row.clusterId
    expect(await m.ended(row)).toEqual({ status: 'SUCCEEDED', error: null, nodes: [['cpu-1', 'IN_SERVICE', null]] })
    expect(await m.on('ctl', `${prefix}/bin/scontrol --version`)).toContain(version)
    expect(await hosts('login')).toBe('cpu-1')
    for (const node of ['ctl', 'cpu-1', 'login']) expect(await installed(node)).toBe('')
  })

  it('grows and shrinks, and keeps the folder', { timeout: 900_000 }, async () => {
    const out = { clusterId, nodeIds: [m.id('cpu-2')] }
    const scaleOut = async () =>
      scaleOutSlurmCluster(m.fixture.admin, {
        ...out,
        fingerprint: (await previewSlurmScaleOut(m.fixture.admin, out)).fingerprint,
        reason: 'test',
      })
    if (version !== '23.11') {
      await m.on('ctl', 'echo "- topology: flat" > /etc/slurm/topology.yaml')
      expect(await m.ended(await scaleOut())).toMatchObject({
        status: 'FAILED',
        error: expect.stringContaining('The controller reads /etc/slurm/topology.yaml'),
      })
      await m.on('ctl', 'rm /etc/slurm/topology.yaml')
    }
    const added = await scaleOut()
    expect(await m.ended(added)).toEqual({ status: 'SUCCEEDED', error: null, nodes: [['cpu-2', 'IN_SERVICE', null]] })
    const request = { clusterId, hostlist: 'cpu-1' }
    const { fingerprint } = await previewSlurmScaleIn(m.fixture.admin, request)
    const removed = await scaleInSlurmCluster(m.fixture.admin, { ...request, fingerprint, deadlineSeconds: 60, reason: 'test' })
    expect(await m.ended(removed)).toMatchObject({ status: 'SUCCEEDED', error: null })
    expect(await hosts('login')).toBe('cpu-2')
    expect(await m.on('cpu-1', 'pgrep -x slurmd; ls -d /etc/slurm /etc/systemd/system/slurmd.service 2>/dev/null')).toBe('')
    expect(await m.on('cpu-1', `ls ${prefix}/sbin/slurmd`)).toBe(`${prefix}/sbin/slurmd`)
  })
})
