import { type SlurmCluster, slurmClusters } from '@muster/core/clusters'
import {
  importSlurmConfig,
  previewSlurmConfig,
  rolloutSlurmConfig,
  saveSlurmConfig,
  slurmConfigVersions,
} from '@muster/core/slurm-configs'
import type { SlurmOperation } from '@muster/core/slurm-operations'
import { createLab } from '@muster/lab/testing'
import { desc, eq } from 'drizzle-orm'
import { expect, vi } from 'vitest'
import { createSlurmFixture } from './slurm-fixture.ts'

const CONTROLLER = 'slurm-ctl-01'
const NODES = ['cpu-01', 'cpu-02']
const reason = 'test'

/** A lab cluster whose configuration was imported from all its hosts, with a running job. */
export async function createConfiguredCluster({ backup = false } = {}) {
  const lab = await createLab({ nodes: NODES.map((name) => ({ name })), slurm: { backup } })
  const fixture = await createSlurmFixture(lab)
  const cluster: SlurmCluster = await fixture.adopt(CONTROLLER, {
    reuseConfig: false,
    ...(backup ? { backupNodeId: fixture.nodeId('slurm-ctl-02') } : {}),
  })
  const job = await lab.slurm!.submit('while sleep 0.2; do date +%s >> /tmp/lines; done', ['--nodelist=cpu-01'])
  const jobState = async () => (await lab.slurm!.run(['squeue', '--noheader', '--format=%T', `--jobs=${job}`])).stdout.trim()
  const fileOf = async (name: string) => (await lab.node(name).exec(['cat', '/etc/slurm/slurm.conf'])).stdout
  const hosts = [CONTROLLER, 'cpu-01', 'cpu-02']
  const stored = async () => (await fixture.runtime.db.select().from(slurmClusters).where(eq(slurmClusters.id, cluster.id)))[0]!
  const newest = async () =>
    (
      await fixture.runtime.db
        .select()
        .from(slurmConfigVersions)
        .where(eq(slurmConfigVersions.clusterId, cluster.id))
        .orderBy(desc(slurmConfigVersions.number))
    )[0]!
  /** Saves an edit of the newest version. @returns its number */
  async function edit(change: (text: string) => string): Promise<number> {
    const { number, files } = await newest()
    const edited = { ...files, 'slurm.conf': change(files['slurm.conf']) }
    return (await saveSlurmConfig(fixture.admin, { clusterId: cluster.id, basedOn: number, files: edited, reason })).number
  }
  async function rollOut(number: number): Promise<SlurmOperation> {
    const { fingerprint } = await previewSlurmConfig(fixture.admin, { clusterId: cluster.id, number })
    const request = { clusterId: cluster.id, number, fingerprint: fingerprint!, reason }
    return fixture.operate(await rolloutSlurmConfig(fixture.admin, request))
  }

  await vi.waitFor(async () => expect(await jobState()).toBe('RUNNING'), { timeout: 60_000 })
  const nodeIds = NODES.map((name) => fixture.nodeId(name))
  const operation = await importSlurmConfig(fixture.admin, { clusterId: cluster.id, nodeIds, reason })
  expect(await fixture.operate(operation)).toMatchObject({ status: 'SUCCEEDED', error: null })
  return {
    lab,
    fixture,
    cluster,
    controller: CONTROLLER,
    hosts,
    jobState,
    fileOf,
    stored,
    newest,
    edit,
    rollOut,
    close: () => fixture.close(),
  }
}
export type ConfiguredCluster = Awaited<ReturnType<typeof createConfiguredCluster>>
