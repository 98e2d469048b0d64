import { parseConfig } from '@muster/slurm/config'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createConfig } from '../../../slurm/src/config/create.ts'
import { createBootRule } from '../boot-service/index.ts'
import { bootRules } from '../boot-service/tables.ts'
import { removeSlurmCluster, slurmClusters } from '../clusters/index.ts'
import {
  createNodeGroup,
  deleteNodeGroup,
  nodeGroupMembers,
  nodeGroups,
  setNodeGroupMembers,
  updateNodeGroup,
} from '../groups/index.ts'
import { inTransaction, tenantCtx } from '../kernel/context.ts'
import { actorRole, type Grant, perClusterPermissions, perNodePermissions } from '../kernel/permissions.ts'
import { type ComputeNode, computeNodes, importNodes } from '../nodes/index.ts'
import { runJob } from '../runs/index.ts'
import { recordSlurmConfigRollout, slurmConfigVersions } from '../slurm-configs/index.ts'
import { lockCluster, slurmOperationNodes, slurmOperations } from '../slurm-operations/index.ts'
import { OPERATION_TEMPLATES } from '../templates/index.ts'
import { jobTemplates } from '../templates/tables.ts'
import { recordRefresh } from '../testing/record-refresh.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { configLineOf, type ScalingFixture, scalingFixture } from '../testing/scaling-fixture.ts'
import { slurmNode, slurmPartition } from '../testing/slurm-fixture.ts'
import { setSecretVar, unsetSecretVar } from '../variables/index.ts'
import { variableScopes, variableSecrets } from '../variables/tables.ts'
import {
  type CreatePlan,
  forgetClusterConfig,
  prepareClusterGroup,
  prepareDatabasePassword,
  previewSlurmScaleIn,
  previewSlurmScaleOut,
  releaseSlurmCluster,
  removeDatabasePassword,
  scaleInSlurmCluster,
  scaleOutSlurmCluster,
  storeScaledConfig,
} from './index.ts'

vi.mock('@muster/slurm/config', async (original) => {
  const actual = await original<typeof import('@muster/slurm/config')>()
  return { ...actual, parseConfig: vi.fn(actual.parseConfig) }
})

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())
let { ours, nodes, idsOf, create, created, end } = {} as ScalingFixture
beforeEach(async () => {
  ;({ ours, nodes, idsOf, create, created, end } = await scalingFixture(t))
})

test('users cannot run the templates of operations', async () => {
  const fixture = await t.given.tenant()
  const [node] = await t.given.fleet(fixture.admin, { nodes: 1 })
  for (const template of OPERATION_TEMPLATES)
    await expect(runJob(fixture.owner, { template, nodeIds: [node!.id] })).rejects.toThrow(
      `Only operations on Slurm clusters run the template ${template}`,
    )
})

describe('createSlurmCluster', () => {
  test('plans each node from its discovery, and stores no munge key in the operation', async () => {
    const operation = await create({ idempotencyKey: 'once' })
    expect(await create({ idempotencyKey: 'once' })).toMatchObject({ id: operation.id })
    expect(operation).toMatchObject({ kind: 'CREATE', status: 'PENDING', nodeCount: 2, reason: 'test' })
    const plan = operation.plan as { nodes: object[]; controllers: object[] }
    expect(plan.controllers).toMatchObject([{ nodeId: nodes[0]!.id, address: nodes[0]!.host }])
    expect(plan.nodes[0]).toMatchObject({
      nodeId: nodes[1]!.id,
      sockets: 2,
      coresPerSocket: 8,
      threadsPerCore: 2,
      realMemoryMiB: 65_536,
    })
    const [cluster] = await t.runtime.db.select().from(slurmClusters).where(eq(slurmClusters.id, operation.clusterId))
    expect(cluster).toMatchObject({ kind: 'MANAGED', reuseConfig: false, configNumber: null })
    expect(JSON.stringify([operation, cluster])).not.toContain('munge_key')
  })

  test('installs the database on the controller or a node of its own, and changes none that exists', async () => {
    const managed = (nodeId: string) => ({ accounting: { kind: 'MANAGED', nodeId } })
    await expect(create(managed(nodes[1]!.id))).rejects.toThrow(/one role only/)
    await expect(create({ accounting: { kind: 'EXISTING', host: 'dbd 1' } })).rejects.toThrow(/host:port/)
    const existing = await create({ name: 'first', ...{ accounting: { kind: 'EXISTING', host: 'dbd-1:7000' } } })
    expect(existing.plan).toMatchObject({ database: null, settings: { accountingHost: 'dbd-1', accountingPort: 7000 } })
    await expect(create({ accounting: { kind: 'EXISTING', host: 'dbd-1:65536' } })).rejects.toThrow(/1 to 65535/)
    await t.runtime.db.update(computeNodes).set({ host: '2001:db8::7' }).where(eq(computeNodes.id, nodes[4]!.id))
    const others = { controllerNodeId: nodes[4]!.id, computeNodeIds: idsOf(5, 6) }
    const operation = await create({ ...others, ...managed(nodes[4]!.id) })
    expect(operation.plan).toMatchObject({
      database: { nodeId: nodes[4]!.id },
      settings: { accountingHost: '2001:db8::7', accountingPort: null },
    })
    const clusters = await t.runtime.db.select().from(slurmClusters).where(eq(slurmClusters.tenantId, ours.tenant.id))
    expect(clusters.map(({ name, reuseDatabase, databaseNodeId }) => [name, reuseDatabase, databaseNodeId])).toEqual([
      ['first', true, null],
      ['prod', false, nodes[4]!.id],
    ])
    for (let i = 0; i < 2; i++) await prepareDatabasePassword(ours.worker, { nodeId: nodes[4]!.id })
    const secrets = await t.runtime.db.select().from(variableSecrets).where(eq(variableSecrets.tenantId, ours.tenant.id))
    expect(secrets).toMatchObject([{ name: 'slurm_database_password' }])
    const nodeSecrets = async () => {
      const [scope] = await t.runtime.db.select().from(variableScopes).where(eq(variableScopes.nodeId, nodes[4]!.id))
      return scope!.secrets
    }
    const before = await nodeSecrets()
    for (let i = 0; i < 2; i++) await removeDatabasePassword(ours.worker, { nodeId: nodes[4]!.id })
    expect(await nodeSecrets()).toEqual({})
    await prepareDatabasePassword(ours.worker, { nodeId: nodes[4]!.id })
    expect(await nodeSecrets()).not.toEqual(before)
  })

  test('rejects nodes that are not READY, in another cluster, in two roles, and lines that Muster writes', async () => {
    await t.runtime.db.update(computeNodes).set({ readyAt: null }).where(eq(computeNodes.id, nodes[2]!.id))
    await expect(create()).rejects.toThrow(/only READY nodes/)
    await expect(create({ computeNodeIds: [nodes[0]!.id] })).rejects.toThrow(/one role only/)
    await expect(create({ extraLines: ['NodeName=x'] })).rejects.toThrow(/Muster writes NodeName/)
    await expect(create({ repositoryUrl: 'https://me:secret@repo.example.org/deb' })).rejects.toThrow(/no user name or password/)
    await expect(create({ extraLines: ['NoSuchKey=1'] })).rejects.toThrow(/extraLines.0: /)
    await expect(create({ backupNodeId: nodes[3]!.id, computeNodeIds: [nodes[1]!.id] })).rejects.toThrow(/stateFolder/)
    // A key of Slurm 25.11; the installed release judges it.
    await create({ computeNodeIds: [nodes[1]!.id], extraLines: ['MetricsType=metrics/openmetrics'] })
    await expect(create({ name: 'other', computeNodeIds: [nodes[4]!.id] })).rejects.toThrow(/is a controller of the cluster prod/)
  })

  test('needs an admin, and finds only nodes of the tenant', async () => {
    await expect(create({}, ours.operator)).rejects.toThrow(/slurm:scale:nodes/)
    const other = await t.given.tenant()
    await expect(create({}, other.admin)).rejects.toThrow(/no node|There is no/)
  })
})

describe('the group of a cluster', () => {
  test('gets one encrypted munge key, however often it is prepared', async () => {
    const { clusterId } = await create()
    const prepare = (nodeIds: string[]) => prepareClusterGroup(ours.worker, { clusterId, nodeIds })
    const groupId = await prepare(idsOf(0, 2))
    expect(await prepare(idsOf(1, 3))).toBe(groupId)
    const secrets = await t.runtime.db.select().from(variableSecrets).where(eq(variableSecrets.tenantId, ours.tenant.id))
    expect(secrets).toMatchObject([{ name: 'slurm_munge_key' }])
    const members = await t.runtime.db.select().from(nodeGroupMembers).where(eq(nodeGroupMembers.groupId, groupId))
    expect(members.map(({ nodeId }) => nodeId).toSorted()).toEqual(idsOf(0, 3).toSorted())
    await expect(prepareClusterGroup(ours.admin, { clusterId, nodeIds: [] })).rejects.toThrow('Only a worker may do this.')
  })

  test('stays with its nodes and its key until the cluster is released', async () => {
    const clusterId = await created()
    const id = await prepareClusterGroup(ours.worker, { clusterId, nodeIds: idsOf(0, 2) })
    const secret = { groupId: id, name: 'slurm_munge_key' }
    const reason = /the managed Slurm cluster prod/
    await expect(deleteNodeGroup(ours.owner, { id })).rejects.toThrow(reason)
    await expect(setNodeGroupMembers(ours.owner, { id, removeNodeIds: idsOf(0, 1) })).rejects.toThrow(reason)
    await expect(setNodeGroupMembers(ours.owner, { id, addNodeIds: idsOf(5, 6) })).rejects.toThrow(reason)
    await expect(createNodeGroup(ours.owner, { name: 'below', parentId: id })).rejects.toThrow(reason)
    const other = await createNodeGroup(ours.owner, { name: 'beside' })
    await expect(updateNodeGroup(ours.owner, { id: other.id, parentId: id })).rejects.toThrow(reason)
    await updateNodeGroup(ours.owner, { id, parentId: other.id, description: 'Nodes of prod.' })
    const text = '[slurm_prod]\nnew1\n[beside]\nnew2\n'
    const imported = await importNodes(ours.owner, { format: 'INVENTORY', text })
    expect(imported.rows).toMatchObject([
      { name: 'new1', state: 'INVALID', issues: [{ path: 'groups', message: expect.stringMatching(reason) }] },
      { name: 'new2', state: 'ADDED' },
    ])
    await expect(setSecretVar(ours.owner, { ...secret, value: 'another key' })).rejects.toThrow(reason)
    await expect(unsetSecretVar(ours.owner, secret)).rejects.toThrow(reason)
    await setNodeGroupMembers(ours.worker, { id, removeNodeIds: idsOf(0, 2) })
    await expect(updateNodeGroup(ours.owner, { id, memberQuery: 'status = NEW' })).rejects.toThrow(reason)
    await setSecretVar(ours.owner, { groupId: id, name: 'other', value: 'other value' })
    await unsetSecretVar(ours.owner, { groupId: id, name: 'other' })
    await releaseSlurmCluster(ours.admin, { id: clusterId })
    await unsetSecretVar(ours.owner, secret)
    await deleteNodeGroup(ours.owner, { id })
  })

  test('is deleted with an undone creation, so that its name is free again', async () => {
    const { clusterId } = await create()
    const id = await prepareClusterGroup(ours.worker, { clusterId, nodeIds: idsOf(0, 2) })
    const child = await createNodeGroup(ours.admin, { name: 'child' })
    await t.runtime.db.update(nodeGroups).set({ parentId: id }).where(eq(nodeGroups.id, child.id))
    const rule = await createBootRule(ours.admin, { name: 'rack', names: 'cn[1-9]', macPrefixes: ['02'], groupId: id })
    await forgetClusterConfig(ours.worker, { clusterId })
    await forgetClusterConfig(ours.worker, { clusterId })
    const rules = await t.runtime.db.select().from(bootRules).where(eq(bootRules.id, rule.id))
    expect(rules).toMatchObject([{ groupId: null, isEnabled: false }])
    expect(await t.runtime.db.select().from(nodeGroups).where(eq(nodeGroups.id, child.id))).toMatchObject([{ parentId: null }])
    expect(await t.runtime.db.select().from(nodeGroups).where(eq(nodeGroups.id, id))).toEqual([])
  })
})

describe('scale-out', () => {
  test('starts what the preview showed, up to max_nodes', async () => {
    const clusterId = await created({ maxNodes: 4 })
    const request = { clusterId, nodeIds: idsOf(2, 4) }
    const preview = await previewSlurmScaleOut(ours.admin, request)
    expect(preview).toMatchObject({ blockedReason: null, plan: { controllers: 'RESTART' } })
    expect(preview.candidates.map(({ blockedReason }) => blockedReason)).toEqual([null, null])
    const scaleOut = (more: object = {}) =>
      scaleOutSlurmCluster(ours.admin, { ...request, fingerprint: preview.fingerprint, reason: 'test', ...more })
    await expect(scaleOut({ nodeIds: idsOf(2, 3) })).rejects.toThrow(/Preview the scale-out again/)
    const tooMany = await previewSlurmScaleOut(ours.admin, { clusterId, nodeIds: idsOf(2, 5) })
    expect(tooMany.blockedReason).toMatch(/would have 5 nodes; its limit is 4/)
    await expect(scaleOut({ nodeIds: idsOf(2, 5), fingerprint: tooMany.fingerprint })).rejects.toThrow(/its limit is 4/)
    const operation = await scaleOut()
    expect(operation).toMatchObject({ kind: 'SCALE_OUT', nodeCount: 2 })
    await expect(scaleOut()).rejects.toThrow(/is part of an operation on the cluster prod/)
  })

  test('parses the configuration once for all nodes', async () => {
    const clusterId = await created()
    const count = async (nodeIds: string[]) => {
      vi.mocked(parseConfig).mockClear()
      await previewSlurmScaleOut(ours.admin, { clusterId, nodeIds })
      return vi.mocked(parseConfig).mock.calls.length
    }
    await t.runtime.db
      .update(slurmConfigVersions)
      .set({ files: sql`${slurmConfigVersions.files} || '{"topology.conf": "SwitchName=s Nodes=ALL"}'` })
      .where(eq(slurmConfigVersions.clusterId, clusterId))
    expect(await count(idsOf(2, 9))).toBe(await count(idsOf(2, 3)))
  })

  test('needs a grant for the nodes that includes the template that installs Slurm', async () => {
    const clusterId = await created()
    const group = await createNodeGroup(ours.admin, { name: 'spare' })
    await setNodeGroupMembers(ours.admin, { id: group.id, addNodeIds: idsOf(2, 4) })
    const templates = await t.runtime.db.select().from(jobTemplates).where(eq(jobTemplates.tenantId, ours.tenant.id))
    const idOf = (name: string) => templates.find((template) => template.name === name)!.id
    const scaling: Grant = {
      permissions: perClusterPermissions(),
      groupIds: [],
      templateIds: null,
      credentialIds: null,
      cluster: { id: clusterId, partitions: null },
    }
    const preview = (template: string) =>
      previewSlurmScaleOut(
        tenantCtx(t.runtime, ours.tenant.id, {
          ...{ kind: 'user', id: ours.viewer.actor.id!, name: 'granted' },
          ...actorRole('viewer'),
          grants: [
            scaling,
            {
              ...scaling,
              permissions: perNodePermissions(),
              groupIds: [group.id],
              templateIds: [idOf(template)],
              cluster: null,
            },
          ],
        }),
        { clusterId, nodeIds: idsOf(2, 4) },
      )
    await expect(preview('connectivity_check')).rejects.toThrow(/do not include the job template slurm_node/)
    expect(await preview('slurm_node')).toMatchObject({ blockedReason: null })
  })

  test('is not possible on an external cluster', async () => {
    const clusterId = await created()
    await releaseSlurmCluster(ours.admin, { id: clusterId })
    await expect(previewSlurmScaleOut(ours.admin, { clusterId, nodeIds: idsOf(2, 3) })).rejects.toThrow(
      /is not managed by Muster/,
    )
  })
})

describe('scale-in', () => {
  test('removes exactly the named node', async () => {
    const clusterId = await created()
    const name = nodes[1]!.name.toLowerCase()
    const preview = await previewSlurmScaleIn(ours.admin, { clusterId, hostlist: name })
    // It waits for the jobs.
    expect(preview.plan?.lost).not.toContain('Jobs on removed nodes fail.')
    const changed = preview.diff.flatMap(({ lines }) => lines.filter(({ kind }) => kind !== ' '))
    expect(changed).toEqual([{ kind: '-', text: configLineOf(nodes[1]!) }])
    expect(preview.plan).toMatchObject({ removedNodes: [name] })
    const request = { clusterId, hostlist: name, fingerprint: preview.fingerprint, deadlineSeconds: 60, reason: 'test' }
    const operation = await scaleInSlurmCluster(ours.admin, request)
    const rows = await t.runtime.db.select().from(slurmOperationNodes).where(eq(slurmOperationNodes.operationId, operation.id))
    expect(rows).toMatchObject([{ name, phase: 'WAITING' }])
  })

  /** A cluster that was refreshed, and its two nodes. */
  async function refreshed() {
    const clusterId = await created()
    const [first, second] = [nodes[1]!, nodes[10]!].map(({ name }) => name.toLowerCase())
    const parts = { clusterName: 'prod', version: '22.05.8', controllers: [], settings: {}, reservations: [], jobs: [] }
    await recordRefresh(ours.worker, {
      ...{ id: clusterId, queries: [], durationMs: 0, error: null },
      state: {
        ...{ ...parts, scheduler: null, partitions: [slurmPartition('batch')] },
        nodes: [first!, second!].map((name) => slurmNode(name, { states: ['IDLE'], partitions: ['batch'], allocatedCpus: 0 })),
      },
    })
    return { clusterId, first: first!, second: second! }
  }
  const startRun = (ctx = ours.admin) =>
    runJob(ctx, { template: 'connectivity_check', nodeIds: [nodes[1]!.id], slurm: { batchSize: 1, floorPercent: 0 } })

  test('leaves nodes to the unfinished run that drains and resumes them', async () => {
    const { clusterId, first, second } = await refreshed()
    const run = await startRun()
    const preview = await previewSlurmScaleIn(ours.admin, { clusterId, hostlist: first })
    const reason = `is in the unfinished run ${run.number}`
    expect(preview.targets).toMatchObject([{ name: first, blockedReason: expect.stringContaining(reason) }])
    const request = { clusterId, hostlist: first, fingerprint: preview.fingerprint, deadlineSeconds: 60, reason: 'test' }
    await expect(scaleInSlurmCluster(ours.admin, request)).rejects.toThrow(reason)
    expect((await previewSlurmScaleIn(ours.admin, { clusterId, hostlist: second })).targets).toMatchObject([
      { blockedReason: null },
    ])
  })

  test('finds a run that began while it waited for the cluster', async () => {
    const { clusterId, first } = await refreshed()
    const { fingerprint } = await previewSlurmScaleIn(ours.admin, { clusterId, hostlist: first })
    const waiting = async () =>
      (await t.appPool.query(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`))
        .rowCount
    const { scaleIn } = await inTransaction(ours.admin, async (tx, ctx) => {
      await lockCluster(tx, ctx, clusterId)
      const scaleIn = scaleInSlurmCluster(ours.admin, {
        ...{ clusterId, hostlist: first, fingerprint },
        ...{ deadlineSeconds: 60, reason: 'test' },
      }).catch((error: unknown) => error)
      await expect.poll(waiting).toBe(1)
      await startRun(ctx)
      return { scaleIn }
    })
    expect(await scaleIn).toMatchObject({ issues: [{ message: expect.stringContaining('is in the unfinished run') }] })
  })

  test('rejects unknown nodes, and all nodes', async () => {
    const clusterId = await created()
    const both = [nodes[1]!, nodes[10]!].map(({ name }) => name.toLowerCase()).join(',')
    await expect(previewSlurmScaleIn(ours.admin, { clusterId, hostlist: 'nosuch' })).rejects.toThrow(/has no node nosuch/)
    await expect(previewSlurmScaleIn(ours.admin, { clusterId, hostlist: both })).rejects.toThrow(/names all nodes/)
  })
})

test('a managed cluster is removed only after its release', async () => {
  const id = await created()
  await expect(removeSlurmCluster(ours.admin, { id })).rejects.toThrow(/Release the cluster first/)
  expect(await releaseSlurmCluster(ours.admin, { id })).toMatchObject({ kind: 'EXTERNAL', reuseConfig: true })
  await removeSlurmCluster(ours.admin, { id })
})

test('nodes need a switch where others have one', async () => {
  const label = (node: ComputeNode, name: string) =>
    t.runtime.db
      .update(computeNodes)
      .set({ labels: { switch: name } })
      .where(eq(computeNodes.id, node.id))
  await label(nodes[1]!, 'leaf1')
  await expect(create()).rejects.toMatchObject({
    issues: [{ path: 'computeNodeIds', message: expect.stringMatching(`^${nodes[2]!.name}: no label`) }],
  })
  await label(nodes[2]!, 'leaf2')
  const operation = await create()
  expect((operation.plan as CreatePlan).nodes.map(({ switchName }) => switchName)).toEqual(['leaf1', 'leaf2'])
  const { nodes: planned, settings } = operation.plan as CreatePlan
  const files = createConfig(settings, planned, '22.05')
  const version = await storeScaledConfig(ours.worker, { operation, origin: 'CREATED', files, settings })
  await recordSlurmConfigRollout(ours.worker, { clusterId: operation.clusterId, number: version.number })
  await end(operation)
  await label(nodes[4]!, 'leaf3')
  const { candidates, diff } = await previewSlurmScaleOut(ours.admin, { clusterId: operation.clusterId, nodeIds: idsOf(3, 5) })
  expect(candidates.map(({ blockedReason }) => blockedReason)).toEqual([expect.stringContaining('no label `switch`'), null])
  const added = diff.find(({ file }) => file === 'topology.conf')!.lines.filter(({ kind }) => kind === '+')
  expect(added.map(({ text }) => text)).toEqual([
    'SwitchName=muster_root Switches=leaf[1-3]',
    `SwitchName=leaf3 Nodes=${nodes[4]!.name.toLowerCase()}`,
  ])
})

test('a repeated step stores its configuration once', async () => {
  const clusterId = await created()
  const [operation] = await t.runtime.db.select().from(slurmOperations).where(eq(slurmOperations.clusterId, clusterId))
  const files = { 'slurm.conf': 'ClusterName=prod\n' }
  const store = () => storeScaledConfig(ours.worker, { operation: operation!, origin: 'SCALED_IN', files, settings: null })
  expect((await store()).number).toBe((await store()).number)
  const versions = await t.runtime.db.select().from(slurmConfigVersions).where(eq(slurmConfigVersions.clusterId, clusterId))
  expect(versions).toHaveLength(2)
})
