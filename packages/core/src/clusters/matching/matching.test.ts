import { and, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ComputeNode, computeNodes } from '../../nodes/tables.ts'
import type { TenantFixture } from '../../testing/factories.ts'
import { recordRefresh } from '../../testing/record-refresh.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { clusterState, slurmNode as node, slurmPartition } from '../../testing/slurm-fixture.ts'
import { addSlurmCluster, type ClusterState, matchSlurmNode, onboardSlurmNodes, type SlurmCluster, slurmNodes } from '../index.ts'

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())

let ours: TenantFixture
let nodes: ComputeNode[]
let cluster: SlurmCluster
beforeEach(async () => {
  ours = await t.given.tenant()
  nodes = (await t.given.fleet(ours.admin, { nodes: 4, with: { hostKey: HOST_KEY } })) as ComputeNode[]
  cluster = await addSlurmCluster(ours.admin, { name: 'prod', controllerNodeId: nodes[0]!.id })
})

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'

const record = (reported: ClusterState['nodes']) =>
  recordRefresh(ours.worker, {
    ...{ id: cluster.id, queries: [], durationMs: 120, error: null },
    state: clusterState({ nodes: reported }),
  })

describe('matching nodes of the inventory', () => {
  const matchOf = async (name: string) => {
    const [row] = await t.runtime.db
      .select()
      .from(slurmNodes)
      .where(and(eq(slurmNodes.clusterId, cluster.id), eq(slurmNodes.name, name)))
    const { nodeId, matchedBy, matchConflict } = row!
    return { node: nodes.find(({ id }) => id === nodeId)?.name ?? null, matchedBy, matchConflict }
  }

  test('uses the address, then the host name, then the name', async () => {
    const [, first, second, third] = nodes as [ComputeNode, ComputeNode, ComputeNode, ComputeNode]
    await t.runtime.db.execute(sql`update compute_nodes set host = 'GPU7.site.test' where id = ${second.id}`)
    await record([
      node('a', { address: first.host }),
      node('b', { address: 'gpu7', hostname: 'gpu7' }),
      node(third.name.toUpperCase()),
      node('unknown'),
    ])
    expect(await matchOf('a')).toEqual({ node: first.name, matchedBy: 'ADDRESS', matchConflict: null })
    expect(await matchOf('b')).toEqual({ node: second.name, matchedBy: 'HOSTNAME', matchConflict: null })
    expect(await matchOf(third.name.toUpperCase())).toEqual({ node: third.name, matchedBy: 'NAME', matchConflict: null })
    expect(await matchOf('unknown')).toEqual({ node: null, matchedBy: null, matchConflict: null })
  })

  test('leaves several candidates and nodes of another cluster to a person', async () => {
    const [, first, second] = nodes as [ComputeNode, ComputeNode, ComputeNode]
    await t.runtime.db.execute(sql`update compute_nodes set host = '198.51.100.9' where id in (${first.id}, ${second.id})`)
    await record([node('a', { address: '198.51.100.9' })])
    expect(await matchOf('a')).toMatchObject({ node: null, matchConflict: expect.stringContaining('Several nodes fit') })

    await record([node('a', { address: nodes[3]!.host })])
    const other = await addSlurmCluster(ours.admin, { name: 'other', controllerNodeId: first.id })
    const mine = cluster
    cluster = other
    await record([node('b', { address: nodes[3]!.host })])
    expect(await matchOf('b')).toMatchObject({
      node: null,
      matchConflict: `The node ${nodes[3]!.name} belongs to the cluster ${mine.name}.`,
    })
  })

  test('decides between several by the boot time', async () => {
    const [, first, second] = nodes as [ComputeNode, ComputeNode, ComputeNode]
    await t.runtime.db.execute(sql`update compute_nodes set host = '198.51.100.9' where id in (${first.id}, ${second.id})`)
    await t.runtime.db.execute(sql`update compute_nodes set booted_at = '2026-11-20T10:00:03Z' where id = ${second.id}`)
    const at = (bootAt: string) => [node('a', { address: '198.51.100.9', bootAt: new Date(bootAt) })]
    await record(at('2026-11-20T10:00:00Z'))
    expect(await matchOf('a')).toEqual({ node: second.name, matchedBy: 'BOOT_TIME', matchConflict: null })
    await record(at('2026-11-20T11:00:00Z'))
    expect(await matchOf('a')).toMatchObject({ node: null, matchConflict: expect.stringContaining('Several nodes fit') })
  })

  test('changes the matches of all nodes in one statement', async () => {
    await record(nodes.map(({ name }) => node(name)))
    // cmin is the number of the statement in its transaction.
    const { rows } = await t.runtime.db.execute<{ matched: number; statements: number }>(sql`
      select count(*)::int as matched, count(distinct cmin::text)::int as statements
      from slurm_nodes where cluster_id = ${cluster.id} and matched_by = 'NAME'`)
    expect(rows).toEqual([{ matched: 4, statements: 1 }])
  })

  test('keeps the match of a cloud node while it is off, and follows its new address', async () => {
    const [, first, second] = nodes as [ComputeNode, ComputeNode, ComputeNode]
    const cloud = (name: string, host: string, ...flags: string[]) =>
      node(name, { address: host, hostname: host, states: ['IDLE', 'CLOUD', ...flags] })
    const matched = (to: ComputeNode | null) => ({
      ...{ node: to?.name ?? null, matchedBy: to ? 'ADDRESS' : null, matchConflict: null },
    })
    await record([cloud('c1', first.host)])
    expect(await matchOf('c1')).toEqual(matched(first))
    // slurmctld resets the address to the name.
    await record([cloud('c1', 'c1', 'POWERED_DOWN')])
    expect(await matchOf('c1')).toEqual(matched(first))
    await record([cloud('c1', 'c1', 'POWERING_UP', 'NOT_RESPONDING')])
    expect(await matchOf('c1')).toEqual(matched(first))
    await record([cloud('c1', second.host, 'POWERING_UP', 'NOT_RESPONDING')])
    expect(await matchOf('c1')).toEqual(matched(second))
    // Another one got the address.
    await record([cloud('c1', 'c1', 'POWERED_DOWN'), cloud('c2', second.host)])
    expect(await matchOf('c1')).toEqual(matched(null))
    expect(await matchOf('c2')).toEqual(matched(second))
    // Up, with an address that no node has.
    await record([cloud('c2', '192.0.2.9')])
    expect(await matchOf('c2')).toEqual(matched(null))
  })

  test('keeps cloud nodes that Slurm hides while they are powered down', async () => {
    const [, first] = nodes as [ComputeNode, ComputeNode]
    const states = async () =>
      (await t.runtime.db.select().from(slurmNodes).where(eq(slurmNodes.clusterId, cluster.id)).orderBy(slurmNodes.name)).map(
        ({ name, state, nodeId, report }) => ({ name, state, isMatched: nodeId === first.id, allocated: report.allocatedCpus }),
      )
    const refresh = (reported: ClusterState['nodes'], listed: string) =>
      recordRefresh(ours.worker, {
        ...{ id: cluster.id, queries: [], durationMs: 120, error: null },
        state: clusterState({ nodes: reported, partitions: [slurmPartition('debug', { nodes: listed })] }),
      })
    const up = node('c1', { address: first.host, states: ['MIXED', 'CLOUD'], allocatedCpus: 2 })
    await refresh([up, node('s1')], 'c1,s1')
    for (const _again of [1, 2]) {
      await refresh([], 'c1,s1')
      expect(await states()).toEqual([{ name: 'c1', state: 'UNKNOWN~', isMatched: true, allocated: 0 }])
    }
    await refresh([up], 'c1,s1')
    expect(await states()).toEqual([{ name: 'c1', state: 'MIXED', isMatched: true, allocated: 2 }])
    await refresh([], 's1')
    expect(await states()).toEqual([])
  })

  test('keeps the choice of a person, and gives a node to one cluster', async () => {
    const [, first, second] = nodes as [ComputeNode, ComputeNode, ComputeNode]
    await record([node('a', { address: first.host })])
    const rowOf = async (name: string) =>
      (
        await t.runtime.db
          .select()
          .from(slurmNodes)
          .where(and(eq(slurmNodes.clusterId, cluster.id), eq(slurmNodes.name, name)))
      )[0]!
    await matchSlurmNode(ours.admin, { id: (await rowOf('a')).id, nodeId: second.id })
    await record([node('a', { address: first.host })])
    expect(await matchOf('a')).toEqual({ node: second.name, matchedBy: 'MANUAL', matchConflict: null })

    // Slurm does not list nodes that are powered down.
    await record([])
    await record([node('a', { address: first.host })])
    expect(await matchOf('a')).toEqual({ node: second.name, matchedBy: 'MANUAL', matchConflict: null })
    await matchSlurmNode(ours.admin, { id: (await rowOf('a')).id, automatic: true })
    await record([])
    await record([node('a', { address: first.host })])
    expect(await matchOf('a')).toMatchObject({ node: first.name, matchedBy: 'ADDRESS' })
    const { id } = await rowOf('a')
    await matchSlurmNode(ours.admin, { id, nodeId: second.id })

    cluster = await addSlurmCluster(ours.admin, { name: 'other', controllerNodeId: first.id })
    await record([node('b', { address: '192.0.2.7' })])
    const other = await rowOf('b')
    await expect(matchSlurmNode(ours.admin, { id: other.id, nodeId: second.id })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('belongs to the cluster prod, as a'),
    })
    const both = await Promise.allSettled([
      matchSlurmNode(ours.admin, { id, nodeId: nodes[3]!.id }),
      matchSlurmNode(ours.admin, { id: other.id, nodeId: nodes[3]!.id }),
    ])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await expect(matchSlurmNode(ours.operator, { id, nodeId: null })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const theirs = await t.given.tenant()
    await expect(matchSlurmNode(theirs.admin, { id, nodeId: null })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('adds the others to the inventory, with the credentials of the controller', async () => {
    const credential = await t.given.credential(ours.admin, 'SSH_KEY')
    await t.runtime.db.execute(sql`update compute_nodes set credential_id = ${credential.id} where id = ${nodes[0]!.id}`)
    await record([node(nodes[1]!.name), node('x1', { address: '192.0.2.1' }), node('x2', { address: '192.0.2.2' })])
    const request = { clusterId: cluster.id, hostlist: 'x[1-9]', idempotencyKey: 'x' }
    const report = await onboardSlurmNodes(ours.operator, request)
    expect(report.addedCount).toBe(2)
    expect(await onboardSlurmNodes(ours.operator, request)).toEqual(report)
    const [added] = await t.runtime.db.select().from(computeNodes).where(eq(computeNodes.host, '192.0.2.2'))
    expect(added).toMatchObject({ name: 'x2', credentialId: credential.id, hostKey: null })
    const [row] = await t.runtime.db.select().from(slurmNodes).where(eq(slurmNodes.name, 'x2'))
    expect(row).toMatchObject({ nodeId: added!.id, matchedBy: 'ADDRESS' })
    await expect(onboardSlurmNodes(ours.operator, { clusterId: cluster.id })).rejects.toMatchObject({
      message: 'The cluster prod has no unmatched nodes.',
    })
    await expect(onboardSlurmNodes(ours.viewer, { clusterId: cluster.id })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })
})
