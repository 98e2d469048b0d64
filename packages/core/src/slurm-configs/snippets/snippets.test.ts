import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addSlurmCluster, type SlurmCluster, slurmClusters, updateSlurmCluster } from '../../clusters/index.ts'
import { inTransaction } from '../../kernel/context.ts'
import type { TenantFixture } from '../../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import {
  applySlurmConfigSnippets,
  compareSnippets,
  createConfigVersion,
  createSlurmConfigSnippet,
  deleteSlurmConfigSnippet,
  recordSlurmConfigRollout,
  saveSlurmConfig,
  slurmConfigSnippets,
  slurmConfigVersions,
  updateSlurmConfigSnippet,
} from '../index.ts'

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'
const conf = (name: string, more = '') => ({
  'slurm.conf': `ClusterName=${name}\nSlurmctldHost=ctl\n${more}NodeName=n[1-2] CPUs=8\nPartitionName=debug Nodes=n[1-2] State=UP\n`,
})
const reason = 'longer arrays'

let t: TestRuntime
let ours: TenantFixture
let alpha: SlurmCluster
let beta: SlurmCluster
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())
beforeEach(async () => {
  ours = await t.given.tenant()
  const nodes = await t.given.fleet(ours.admin, { nodes: 2, with: { hostKey: HOST_KEY } })
  const add = async (name: string, i: number) => {
    const cluster = await addSlurmCluster(ours.admin, { name, region: 'eu', controllerNodeId: nodes[i]!.id, reuseConfig: false })
    await inTransaction(ours.admin, (tx, ctx) =>
      createConfigVersion(tx, ctx, { clusterId: cluster.id, basedOn: null, files: conf(name), origin: 'IMPORTED', reason }),
    )
    await recordSlurmConfigRollout(ours.worker, { clusterId: cluster.id, number: 1 })
    return cluster
  }
  alpha = await add('alpha', 0)
  beta = await add('beta', 1)
})

const create = (lines = 'MaxArraySize=5000', clusters = [alpha, beta]) =>
  createSlurmConfigSnippet(ours.admin, {
    name: 'limits',
    files: { 'slurm.conf': lines },
    clusterIds: clusters.map(({ id }) => id),
    reason,
  })
const versions = (cluster: SlurmCluster) =>
  t.runtime.db
    .select()
    .from(slurmConfigVersions)
    .where(eq(slurmConfigVersions.clusterId, cluster.id))
    .orderBy(slurmConfigVersions.number)
const newest = async (cluster: SlurmCluster) => (await versions(cluster)).at(-1)!
const stored = async (cluster: SlurmCluster) =>
  (await t.runtime.db.select().from(slurmClusters).where(eq(slurmClusters.id, cluster.id)))[0]!
async function compare(cluster: SlurmCluster) {
  const snippets = await t.runtime.db.select().from(slurmConfigSnippets).where(eq(slurmConfigSnippets.tenantId, ours.tenant.id))
  const row = await stored(cluster)
  const all = await versions(cluster)
  const rolledOut = all.find(({ number }) => number === row.configNumber) ?? null
  return compareSnippets(row, snippets, all.at(-1) ?? null, rolledOut)
}
const states = async (cluster: SlurmCluster) =>
  (await compare(cluster)).snippets.map(({ state, message }) => ({ state, message }))
const apply = async (cluster: SlurmCluster, ctx = ours.admin) =>
  applySlurmConfigSnippets(ctx, { clusterId: cluster.id, fingerprint: (await compare(cluster)).fingerprint ?? '', reason })

describe('a snippet', () => {
  test('changes no configuration until it is applied, cluster by cluster, and rolls nothing out', async () => {
    await create()
    for (const cluster of [alpha, beta]) {
      expect(await newest(cluster)).toMatchObject({ number: 1, snippets: [] })
      expect(await states(cluster)).toEqual([{ state: 'NOT_APPLIED', message: expect.stringContaining('Version 1') }])
    }
    const version = await apply(alpha)
    expect(version).toMatchObject({ number: 2, origin: 'SNIPPETS', basedOn: 1, reason, snippets: ['limits'] })
    expect(version.files['slurm.conf']).toContain(
      '# BEGIN MUSTER SNIPPET limits\nMaxArraySize=5000\n# END MUSTER SNIPPET limits\n',
    )
    expect(await stored(alpha)).toMatchObject({ configNumber: 1 })
    expect(await states(alpha)).toEqual([{ state: 'PROPOSED', message: expect.stringContaining('Version 2') }])
    expect(await states(beta)).toMatchObject([{ state: 'NOT_APPLIED' }])
    await recordSlurmConfigRollout(ours.worker, { clusterId: alpha.id, number: 2 })
    expect(await states(alpha)).toEqual([{ state: 'ROLLED_OUT', message: null }])
    await expect(apply(alpha)).rejects.toThrow(/already/)
  })

  test('is for all clusters of a region, also for those that are added to it later', async () => {
    const { id } = await createSlurmConfigSnippet(ours.admin, {
      ...{ name: 'limits', files: { 'slurm.conf': 'MaxArraySize=5000' }, clusterIds: [], regions: ['us', 'us'], reason },
    })
    expect(await states(alpha)).toEqual([])
    await updateSlurmCluster(ours.admin, { id: alpha.id, region: 'us' })
    expect(await states(alpha)).toMatchObject([{ state: 'NOT_APPLIED' }])
    await apply(alpha)
    expect(await states(beta)).toEqual([])
    const updated = await updateSlurmConfigSnippet(ours.admin, { id, expectedVersion: 1, regions: ['eu'], reason })
    expect(updated).toMatchObject({ version: 2, clusterIds: [], regions: ['eu'] })
    expect(await states(beta)).toMatchObject([{ state: 'NOT_APPLIED' }])
    expect(await states(alpha)).toEqual([{ state: 'NOT_APPLIED', message: expect.stringContaining('still has its lines') }])
    await updateSlurmCluster(ours.admin, { id: beta.id, region: null })
    expect(await states(beta)).toEqual([])
  })

  test('leaves its lines until they are removed from clusters that it is not for, or when it is deleted', async () => {
    const { id } = await create()
    await apply(alpha)
    await apply(beta)
    await updateSlurmConfigSnippet(ours.admin, { id, expectedVersion: 1, files: { 'slurm.conf': 'MaxArraySize=7000' }, reason })
    expect((await apply(beta)).files['slurm.conf']).toContain('\nMaxArraySize=7000\n')
    const updated = await updateSlurmConfigSnippet(ours.admin, { id, expectedVersion: 2, clusterIds: [alpha.id], reason })
    expect(updated).toMatchObject({ version: 3, clusterIds: [alpha.id] })
    expect(await apply(beta)).toMatchObject({ files: conf('beta'), snippets: [] })
    await deleteSlurmConfigSnippet(ours.admin, { id, reason })
    expect((await compare(alpha)).snippets).toMatchObject([{ name: 'limits', snippet: null, state: 'NOT_APPLIED' }])
    expect(await apply(alpha)).toMatchObject({ number: 3, files: conf('alpha') })
    expect(await states(alpha)).toEqual([])
  })

  test('rejects an apply that differs from the preview', async () => {
    const { id } = await create()
    const { fingerprint } = await compare(alpha)
    await updateSlurmConfigSnippet(ours.admin, { id, expectedVersion: 1, files: { 'slurm.conf': 'MaxArraySize=7000' }, reason })
    const input = { clusterId: alpha.id, fingerprint: fingerprint!, reason }
    await expect(applySlurmConfigSnippets(ours.admin, input)).rejects.toThrow(/alpha or its snippets changed after the preview/)
    expect(await newest(alpha)).toMatchObject({ number: 1 })
    const current = { ...input, fingerprint: (await compare(alpha)).fingerprint! }
    const outcomes = await Promise.allSettled([1, 2].map(() => applySlurmConfigSnippets(ours.admin, current)))
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await newest(alpha)).toMatchObject({ number: 2 })
  })

  test('names the line of a cluster with the same key, which does not stop the other clusters', async () => {
    await saveSlurmConfig(ours.admin, { clusterId: alpha.id, basedOn: 1, files: conf('alpha', 'MaxArraySize=1\n'), reason })
    await create()
    await expect(apply(alpha)).rejects.toThrow(/The snippet limits: MaxArraySize is also in line 3/)
    expect(await apply(beta)).toMatchObject({ number: 2 })
    expect(await newest(alpha)).toMatchObject({ number: 2, origin: 'EDITED' })
    expect(await states(alpha)).toEqual([
      { state: 'CONFLICT', message: expect.stringContaining('MaxArraySize is also in line 3 of slurm.conf.') },
    ])
    await saveSlurmConfig(ours.admin, { clusterId: alpha.id, basedOn: 2, files: conf('alpha'), reason })
    expect(await apply(alpha)).toMatchObject({ number: 4, origin: 'SNIPPETS' })
  })

  test('shows a cluster whose newest version lost or changed its lines', async () => {
    await create()
    await apply(beta)
    const { files } = await apply(alpha)
    const edited = { 'slurm.conf': files['slurm.conf'].replace('5000', '6000') }
    await saveSlurmConfig(ours.admin, { clusterId: alpha.id, basedOn: 2, files: edited, reason })
    expect(await states(alpha)).toMatchObject([{ state: 'NOT_APPLIED' }])
    expect(await states(beta)).toMatchObject([{ state: 'PROPOSED' }])
    expect((await apply(alpha)).files).toEqual(files)
  })

  test('is judged by the release of each cluster', async () => {
    await t.runtime.db.update(slurmClusters).set({ version: '24.05.1' }).where(eq(slurmClusters.id, alpha.id))
    await t.runtime.db.update(slurmClusters).set({ version: '22.05.8' }).where(eq(slurmClusters.id, beta.id))
    await create('TLSType=tls/none')
    expect(await apply(alpha)).toMatchObject({ number: 2 })
    await expect(apply(beta)).rejects.toThrow(/TLSType needs Slurm 24.05/)
    expect(await states(beta)).toEqual([{ state: 'NOT_APPLIED', message: expect.stringMatching(/TLSType needs Slurm 24.05/) }])
  })

  test('never changes a configuration that is reused', async () => {
    await updateSlurmCluster(ours.admin, { id: alpha.id, reuseConfig: true })
    await create()
    await expect(apply(alpha)).rejects.toThrow(/is reused/)
    expect(await states(alpha)).toEqual([{ state: 'NOT_MANAGED', message: expect.stringContaining('is reused') }])
  })

  test('keeps working when one of its clusters was removed', async () => {
    const { id } = await create()
    await t.runtime.db.delete(slurmClusters).where(eq(slurmClusters.id, beta.id))
    await updateSlurmConfigSnippet(ours.admin, { id, expectedVersion: 1, files: { 'slurm.conf': 'MaxArraySize=1' }, reason })
    expect(await apply(alpha)).toMatchObject({ number: 2 })
  })

  test('is refused with the file and line of what no release of Slurm can read', async () => {
    await expect(create('MaxArraySize=1\nNoSuchKey=2')).rejects.toMatchObject({
      issues: [{ path: 'slurm.conf:2', message: 'the key NoSuchKey is not known to Slurm' }],
    })
    expect(await t.runtime.db.$count(slurmConfigSnippets, sql`name = 'limits' and tenant_id = ${ours.tenant.id}`)).toBe(0)
  })

  test('needs the right to change configurations, and a cluster and a name of the tenant', async () => {
    const { id } = await create()
    await expect(create()).rejects.toThrow(/already a snippet named limits/)
    const input = { name: 'other', files: { 'slurm.conf': 'MaxArraySize=1' }, clusterIds: [], reason }
    await expect(createSlurmConfigSnippet(ours.operator, input)).rejects.toThrow(/permission|role|admin/i)
    const theirs = await t.given.tenant()
    await expect(createSlurmConfigSnippet(theirs.admin, { ...input, clusterIds: [alpha.id] })).rejects.toThrow(/no cluster/)
    const change = { id, expectedVersion: 1, reason }
    await expect(updateSlurmConfigSnippet(theirs.admin, change)).rejects.toThrow(/no snippet/)
    await expect(deleteSlurmConfigSnippet(theirs.admin, { id, reason })).rejects.toThrow(/no snippet/)
    await expect(apply(alpha, theirs.admin)).rejects.toThrow(/no cluster/)
    await expect(apply(alpha, ours.operator)).rejects.toThrow(/permission|role|admin/i)
  })
})
