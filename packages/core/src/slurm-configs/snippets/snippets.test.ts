import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addSlurmCluster, type SlurmCluster, slurmClusters, updateSlurmCluster } from '../../clusters/index.ts'
import { inTransaction } from '../../kernel/context.ts'
import type { TenantFixture } from '../../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import {
  applySlurmConfigSnippets,
  createConfigVersion,
  createSlurmConfigSnippet,
  deleteSlurmConfigSnippet,
  recordSlurmConfigRollout,
  saveSlurmConfig,
  slurmConfigSnippets,
  slurmConfigVersions,
  snippetStates,
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
    const cluster = await addSlurmCluster(ours.admin, { name, controllerNodeId: nodes[i]!.id, reuseConfig: false })
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
async function states(cluster: SlurmCluster) {
  const snippets = await t.runtime.db.select().from(slurmConfigSnippets).where(eq(slurmConfigSnippets.tenantId, ours.tenant.id))
  const row = await stored(cluster)
  const all = await versions(cluster)
  const rolledOut = all.find(({ number }) => number === row.configNumber) ?? null
  return snippetStates(row, snippets, all.at(-1) ?? null, rolledOut).map(({ state, message }) => ({ state, message }))
}

describe('a snippet', () => {
  test('proposes a version for each of its clusters, and rolls nothing out', async () => {
    await create()
    for (const cluster of [alpha, beta]) {
      const version = await newest(cluster)
      expect(version).toMatchObject({ number: 2, origin: 'SNIPPETS', basedOn: 1, reason })
      expect(version.files['slurm.conf']).toContain(
        '# BEGIN MUSTER SNIPPET limits\nMaxArraySize=5000\n# END MUSTER SNIPPET limits\n',
      )
      expect(await stored(cluster)).toMatchObject({ configNumber: 1 })
      expect(await states(cluster)).toEqual([{ state: 'PROPOSED', message: expect.stringContaining('Version 2') }])
    }
    await recordSlurmConfigRollout(ours.worker, { clusterId: alpha.id, number: 2 })
    expect(await states(alpha)).toEqual([{ state: 'ROLLED_OUT', message: null }])
  })

  test('changes the lines of its clusters, takes them from those that leave it, and is deleted with its lines', async () => {
    const { id } = await create()
    await updateSlurmConfigSnippet(ours.admin, { id, expectedVersion: 1, files: { 'slurm.conf': 'MaxArraySize=7000' }, reason })
    expect((await newest(beta)).files['slurm.conf']).toContain('\nMaxArraySize=7000\n')
    const updated = await updateSlurmConfigSnippet(ours.admin, { id, expectedVersion: 2, clusterIds: [alpha.id], reason })
    expect(updated).toMatchObject({ version: 3, clusterIds: [alpha.id] })
    expect((await newest(beta)).files).toEqual(conf('beta'))
    expect((await newest(alpha)).number).toBe(3)
    await deleteSlurmConfigSnippet(ours.admin, { id, reason })
    expect(await newest(alpha)).toMatchObject({ number: 4, files: conf('alpha') })
  })

  test('refuses a change that is based on an earlier version', async () => {
    const { id } = await create()
    const change = () =>
      updateSlurmConfigSnippet(ours.admin, { id, expectedVersion: 1, files: { 'slurm.conf': 'MaxArraySize=7000' }, reason })
    const outcomes = await Promise.allSettled([change(), change()])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await expect(change()).rejects.toThrow(/changed the snippet limits meanwhile: it has version 2/)
  })

  test('names the line of a cluster with the same key, and proposes versions for the other clusters', async () => {
    await saveSlurmConfig(ours.admin, { clusterId: alpha.id, basedOn: 1, files: conf('alpha', 'MaxArraySize=1\n'), reason })
    await create()
    expect((await newest(alpha)).number).toBe(2)
    expect((await newest(beta)).number).toBe(2)
    expect(await states(alpha)).toEqual([
      { state: 'CONFLICT', message: expect.stringContaining('MaxArraySize is also in line 3 of slurm.conf.') },
    ])
    const apply = () => applySlurmConfigSnippets(ours.admin, { clusterId: alpha.id, reason })
    await expect(apply()).rejects.toThrow(/The snippet limits: MaxArraySize is also in line 3/)
    await saveSlurmConfig(ours.admin, { clusterId: alpha.id, basedOn: 2, files: conf('alpha'), reason })
    expect(await apply()).toMatchObject({ number: 4, origin: 'SNIPPETS' })
    await expect(apply()).rejects.toThrow(/already/)
  })

  test('shows a cluster whose newest version lost or changed its lines', async () => {
    await create()
    const { files } = await newest(alpha)
    const edited = { 'slurm.conf': files['slurm.conf'].replace('5000', '6000') }
    await saveSlurmConfig(ours.admin, { clusterId: alpha.id, basedOn: 2, files: edited, reason })
    expect(await states(alpha)).toMatchObject([{ state: 'DIFFERS' }])
    expect(await states(beta)).toMatchObject([{ state: 'PROPOSED' }])
    await applySlurmConfigSnippets(ours.admin, { clusterId: alpha.id, reason })
    expect((await newest(alpha)).files).toEqual(files)
  })

  test('is judged by the release of each cluster', async () => {
    await t.runtime.db.update(slurmClusters).set({ version: '24.05.1' }).where(eq(slurmClusters.id, alpha.id))
    await t.runtime.db.update(slurmClusters).set({ version: '22.05.8' }).where(eq(slurmClusters.id, beta.id))
    await create('TLSType=tls/none')
    expect((await newest(alpha)).number).toBe(2)
    expect((await newest(beta)).number).toBe(1)
    expect(await states(beta)).toEqual([{ state: 'DIFFERS', message: expect.stringMatching(/TLSType needs Slurm 24.05/) }])
  })

  test('never changes a configuration that is reused', async () => {
    await updateSlurmCluster(ours.admin, { id: alpha.id, reuseConfig: true })
    await create()
    expect((await newest(alpha)).number).toBe(1)
    expect(await states(alpha)).toEqual([{ state: 'NOT_MANAGED', message: expect.stringContaining('is reused') }])
  })

  test('keeps working when one of its clusters was removed', async () => {
    const { id } = await create()
    await t.runtime.db.delete(slurmClusters).where(eq(slurmClusters.id, beta.id))
    await updateSlurmConfigSnippet(ours.admin, { id, expectedVersion: 1, files: { 'slurm.conf': 'MaxArraySize=1' }, reason })
    expect((await newest(alpha)).number).toBe(3)
  })

  test('is refused with the file and line of what no release of Slurm can read', async () => {
    await expect(create('MaxArraySize=1\nNoSuchKey=2')).rejects.toMatchObject({
      issues: [{ path: 'slurm.conf:2', message: 'the key NoSuchKey is not known to Slurm' }],
    })
    expect(await t.runtime.db.$count(slurmConfigSnippets, sql`name = 'limits' and tenant_id = ${ours.tenant.id}`)).toBe(0)
  })

  test('has at most 50 clusters, because one transaction changes all of them', async () => {
    const clusterIds = Array.from({ length: 51 }, () => crypto.randomUUID())
    const input = { name: 'wide', files: { 'slurm.conf': 'MaxArraySize=1' }, reason }
    await expect(createSlurmConfigSnippet(ours.admin, { ...input, clusterIds })).rejects.toThrow(/at most 50 clusters/)
    await expect(createSlurmConfigSnippet(ours.admin, { ...input, clusterIds: clusterIds.slice(1) })).rejects.toThrow(
      /no cluster/,
    )
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
    await expect(applySlurmConfigSnippets(theirs.admin, { clusterId: alpha.id, reason })).rejects.toThrow(/no cluster/)
  })
})
