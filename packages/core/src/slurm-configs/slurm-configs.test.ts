import { parseNodes, parsePartitions, type SlurmJob } from '@muster/slurm'
import type { ConfigChange } from '@muster/slurm/config'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addSlurmCluster, type SlurmCluster, slurmClusters, slurmNodes, updateSlurmCluster } from '../clusters/index.ts'
import { type Ctx, tenantCtx } from '../kernel/context.ts'
import { actorRole, perClusterPermissions } from '../kernel/permissions.ts'
import { type SlurmOperation, slurmOperationNodes, slurmOperations } from '../slurm-operations/index.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { recordRefresh } from '../testing/record-refresh.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { slurmNode } from '../testing/slurm-fixture.ts'
import {
  checkSlurmConfigDrift,
  importSlurmConfig,
  previewSlurmConfig,
  readConfigHosts,
  readSlurmRollout,
  recordSlurmConfigDrift,
  recordSlurmConfigImport,
  recordSlurmConfigRollout,
  rollbackSlurmConfig,
  rolloutSlurmConfig,
  saveSlurmConfig,
  slurmConfigVersions,
  validateSlurmConfig,
} from './index.ts'

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'
const conf = (nodes: string, more = '') => ({
  'slurm.conf': `ClusterName=alpha\nSlurmctldHost=ctl\n${more}NodeName=${nodes} CPUs=8\nPartitionName=debug Nodes=${nodes} State=UP\n`,
})
const ONE = conf('n[1-2]')

let t: TestRuntime
let ours: TenantFixture
let cluster: SlurmCluster
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())
beforeEach(async () => {
  ours = await t.given.tenant()
  const [node] = await t.given.fleet(ours.admin, { nodes: 1, with: { hostKey: HOST_KEY } })
  cluster = await addSlurmCluster(ours.admin, { name: 'prod', controllerNodeId: node!.id, reuseConfig: false })
  await refreshed()
})

const refreshed = (jobs: SlurmJob[] = [], nodes = 'State=IDLE Weight=1', partition = 'State=DRAIN Nodes=n[1-2]') =>
  recordRefresh(ours.worker, {
    id: cluster.id,
    queries: [],
    durationMs: 1,
    error: null,
    state: {
      ...{ clusterName: 'alpha', version: '22.05.8', controllers: [], settings: null, reservations: [], jobs, scheduler: null },
      nodes: parseNodes(
        `NodeName=n1 CPUTot=8 ${nodes} Partitions=debug\nNodeName=n2 CPUTot=8 State=IDLE Weight=1 Partitions=debug\n`,
      ),
      partitions: parsePartitions(`PartitionName=debug ${partition}\n`),
    },
  })
const end = async ({ id }: SlurmOperation, error: string | null = null) => {
  await t.runtime.db.update(slurmOperations).set({ finishedAt: sql`now()`, error }).where(eq(slurmOperations.id, id))
}
const reason = 'test'
const base = () => ({ clusterId: cluster.id, reason })
async function imported(files = ONE): Promise<void> {
  const operation = await importSlurmConfig(ours.admin, base())
  await recordSlurmConfigImport(ours.worker, { operationId: operation.id, files, basedOn: null })
  await end(operation)
}
const save = (files: { 'slurm.conf': string }, basedOn = 1, ctx = ours.admin) =>
  saveSlurmConfig(ctx, { ...base(), basedOn, files })
const preview = (number: number) => previewSlurmConfig(ours.admin, { clusterId: cluster.id, number })
const rollout = async (number: number, fingerprint?: string) =>
  rolloutSlurmConfig(ours.admin, { ...base(), number, fingerprint: fingerprint ?? (await preview(number)).fingerprint! })
/** A viewer with a grant for the whole cluster. */
const grantee = () => {
  const grant = { groupIds: [], templateIds: null, credentialIds: null, cluster: { id: cluster.id, partitions: null } }
  return tenantCtx(t.runtime, ours.tenant.id, {
    ...{ kind: 'user', id: ours.viewer.actor.id!, name: 'granted' },
    ...{ ...actorRole('viewer'), grants: [{ ...grant, permissions: perClusterPermissions() }] },
  })
}
const stored = async () => (await t.runtime.db.select().from(slurmClusters).where(eq(slurmClusters.id, cluster.id)))[0]!

describe('import', () => {
  test('stores the files as version 1 in the name of the user', async () => {
    await imported()
    const [version] = await t.runtime.db.select().from(slurmConfigVersions).where(eq(slurmConfigVersions.clusterId, cluster.id))
    expect(version).toMatchObject({
      number: 1,
      files: ONE,
      origin: 'IMPORTED',
      basedOn: null,
      createdByName: ours.admin.actor.name,
    })
    expect(await stored()).toMatchObject({ configNumber: 1 })
  })

  test('stores no second version of the same files', async () => {
    await imported()
    const operation = await importSlurmConfig(ours.admin, base())
    expect(operation).toMatchObject({ kind: 'CONFIGURE', input: { action: 'IMPORT', basedOn: 1 }, nodeCount: 1 })
    expect(await recordSlurmConfigImport(ours.worker, { operationId: operation.id, files: ONE, basedOn: 1 })).toMatchObject({
      number: 1,
    })
  })

  test('keeps the nodes of the last import unless it names others', async () => {
    const [login] = await t.given.fleet(ours.admin, { nodes: 1, prefix: 'login' })
    const granted = grantee()
    const nodeIdsAfter = async (ctx: Ctx, more: { nodeIds?: string[] }) => {
      await end(await importSlurmConfig(ctx, { ...base(), ...more }))
      return (await stored()).configNodeIds
    }
    expect(await nodeIdsAfter(ours.admin, { nodeIds: [login!.id] })).toEqual([login!.id])
    expect(await nodeIdsAfter(granted, {})).toEqual([login!.id])
    expect(await nodeIdsAfter(ours.admin, {})).toEqual([login!.id])
    await expect(importSlurmConfig(granted, { ...base(), nodeIds: [] })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await nodeIdsAfter(ours.admin, { nodeIds: [] })).toEqual([])
  })

  test('is possible while the configuration is reused', async () => {
    await updateSlurmCluster(ours.admin, { id: cluster.id, reuseConfig: true })
    await expect(importSlurmConfig(ours.admin, base())).resolves.toBeTruthy()
  })
})

describe('a cluster that is read from a login node', () => {
  const settings = { 'SlurmctldHost[0]': 'Head1(10.7.7.1)', 'SlurmctldHost[1]': 'head2' }
  const reports = async (settings: Record<string, string>) => {
    await t.runtime.db.update(slurmClusters).set({ settings }).where(eq(slurmClusters.id, cluster.id))
  }
  beforeEach(() => reports(settings))

  test('writes the files of the controllers', async () => {
    const [second] = await t.given.fleet(ours.admin, { nodes: 1, prefix: 'other', with: { host: 'head2' } })
    const [first] = await t.given.fleet(ours.admin, { nodes: 1, prefix: 'ctl', with: { host: '10.7.7.1' } })
    await imported()
    expect((await preview(1)).hosts).toEqual([first!.name, second!.name])
    await save(conf('n[1-3]'))
    const { controllers } = await readSlurmRollout(ours.worker, {
      operationId: cluster.id,
      clusterId: cluster.id,
      from: 1,
      to: 2,
    })
    expect(controllers.map(({ nodeId }) => nodeId)).toEqual([first!.id, second!.id])
  })

  test('keeps the hosts of a rollout that has begun', async () => {
    const [first] = await t.given.fleet(ours.admin, { nodes: 1, prefix: 'ctl', with: { host: '10.7.7.1' } })
    await reports({ 'SlurmctldHost[0]': 'Head1(10.7.7.1)' })
    await imported()
    await save(conf('n[1-3]'))
    const operation = await rollout(2)
    const request = { operationId: operation.id, clusterId: cluster.id, from: 1, to: 2 }
    const { hosts, controllers } = await readSlurmRollout(ours.worker, request)
    expect(hosts).toEqual([{ nodeId: first!.id, name: first!.name }])
    expect(controllers).toEqual([{ ...hosts[0], controller: 'head1' }])
    const progress = { from: 1, to: 2, hosts, controllers, newHosts: [], workingNodes: [], failure: null }
    await t.runtime.db.update(slurmOperations).set({ rollout: progress }).where(eq(slurmOperations.id, operation.id))
    // A refresh reads what the new files name.
    await reports({ 'SlurmctldHost[0]': 'head9' })
    expect(await readSlurmRollout(ours.worker, request)).toMatchObject({ hosts, controllers, progress })
  })

  test('is not written while a controller is no node of the inventory', async () => {
    await t.given.fleet(ours.admin, { nodes: 1, prefix: 'ctl', with: { host: '10.7.7.1' } })
    await expect(importSlurmConfig(ours.admin, base())).rejects.toThrow(/runs on head2, which is no node of the inventory/)
  })

  test('chooses no node of another cluster', async () => {
    await reports({ 'SlurmctldHost[0]': 'head1' })
    const [head] = await t.given.fleet(ours.admin, { nodes: 1, prefix: 'other', with: { host: 'head1', hostKey: HOST_KEY } })
    const other = await addSlurmCluster(ours.admin, { name: 'other', controllerNodeId: head!.id })
    const refused = /runs on head1. The node other\S* fits, but belongs to the cluster other\. Choose .* as controller or backup/
    await expect(importSlurmConfig(ours.admin, base())).rejects.toThrow(refused)
    const [login] = await t.given.fleet(ours.admin, { nodes: 1, prefix: 'login', with: { hostKey: HOST_KEY } })
    const roles = [
      { controllerNodeId: login!.id, backupNodeId: head!.id },
      { backupNodeId: null, databaseNodeId: head!.id },
      { databaseNodeId: null, configNodeIds: [head!.id] },
    ]
    for (const role of roles) {
      await t.runtime.db.update(slurmClusters).set(role).where(eq(slurmClusters.id, other.id))
      await expect(importSlurmConfig(ours.admin, base())).rejects.toThrow(refused)
    }
    await t.runtime.db.update(slurmClusters).set({ configNodeIds: [] }).where(eq(slurmClusters.id, other.id))
    const report = slurmNode('n9')
    const counts = { cpus: 1, allocatedCpus: 0, gpus: 0, allocatedGpus: 0 }
    const row = { tenantId: ours.tenant.id, clusterId: other.id, name: 'n9', states: [], state: 'IDLE', partitions: [] }
    await t.runtime.db.insert(slurmNodes).values({ ...row, ...counts, report, nodeId: head!.id })
    await expect(importSlurmConfig(ours.admin, base())).rejects.toThrow(refused)
    await updateSlurmCluster(ours.admin, { id: cluster.id, backupNodeId: head!.id })
    await expect(importSlurmConfig(ours.admin, base())).resolves.toBeTruthy()
  })

  test('lets a grant for the cluster reach no further node', async () => {
    await reports({ 'SlurmctldHost[0]': 'head1' })
    await t.given.fleet(ours.admin, { nodes: 1, prefix: 'ctl', with: { host: 'head1' } })
    const granted = grantee()
    await expect(importSlurmConfig(granted, base())).rejects.toThrow(
      /your grant for the cluster gives no access to further nodes/,
    )
    const operation = await importSlurmConfig(ours.admin, base())
    await recordSlurmConfigImport(ours.worker, { operationId: operation.id, files: ONE, basedOn: null })
    await end(operation)
    const request = { clusterId: cluster.id, number: 1 }
    for (const verb of [previewSlurmConfig, validateSlurmConfig, checkSlurmConfigDrift])
      await expect(verb(granted, request)).rejects.toThrow(/no access to further nodes/)
    // The node on which Muster runs the commands.
    await reports({})
    await expect(checkSlurmConfigDrift(granted, request)).resolves.toBeTruthy()
  })

  test('is neither read nor written on hosts that a refresh found after the request', async () => {
    await reports({})
    await imported()
    await save(conf('n[1-3]'))
    const [head] = await t.given.fleet(ours.admin, { nodes: 1, prefix: 'ctl', with: { host: 'head1' } })
    const { fingerprint } = await preview(2)
    const started = await rolloutSlurmConfig(grantee(), { ...base(), number: 2, fingerprint: fingerprint! })
    const read = () => readSlurmRollout(ours.worker, { operationId: started.id, clusterId: cluster.id, from: 1, to: 2 })
    const hosts = (await read()).hosts
    await reports({ 'SlurmctldHost[0]': 'head1' })
    const grown = new RegExp(`^Since the request, ${head!.name} became a host of the configuration of the cluster prod`)
    await expect(read()).rejects.toThrow(grown)
    await expect(readConfigHosts(ours.worker, { operationId: started.id, clusterId: cluster.id })).rejects.toThrow(grown)
    // What has begun continues on its hosts.
    const controllers = hosts.map((host) => ({ ...host, controller: null }))
    const progress = { from: 1, to: 2, hosts, controllers, newHosts: [], workingNodes: [], failure: null }
    await t.runtime.db.update(slurmOperations).set({ rollout: progress }).where(eq(slurmOperations.id, started.id))
    expect((await read()).hosts).toEqual(hosts)
  })

  test('has its own controllers when Muster manages it', async () => {
    await t.given.fleet(ours.admin, { nodes: 1, prefix: 'ctl', with: { host: 'head2' } })
    await t.runtime.db.update(slurmClusters).set({ kind: 'MANAGED' }).where(eq(slurmClusters.id, cluster.id))
    const operation = await importSlurmConfig(ours.admin, base())
    const hosts = await t.runtime.db.select().from(slurmOperationNodes).where(eq(slurmOperationNodes.operationId, operation.id))
    expect(hosts).toMatchObject([{ nodeId: cluster.controllerNodeId }])
  })
})

describe('save', () => {
  beforeEach(() => imported())

  test('stores the next version, and refuses one that is based on an older one', async () => {
    expect(await save(conf('n[1-3]'))).toMatchObject({ number: 2, origin: 'EDITED', basedOn: 1 })
    await expect(save(conf('n[1-4]'))).rejects.toThrow(/saved version 2 .* meanwhile/)
    expect(await save(conf('n[1-4]'), 2)).toMatchObject({ number: 3 })
  })

  test('names the lines of new errors', async () => {
    await expect(save(conf('n[1-2]', 'NoSuchKey=1\n'))).rejects.toMatchObject({
      issues: [{ path: 'slurm.conf:3', message: 'The key NoSuchKey is not known to Slurm.' }],
    })
  })

  test('judges by the release of the cluster', async () => {
    await expect(save(conf('n[1-2]', 'TLSType=tls/none\n'))).rejects.toThrow()
    await t.runtime.db.update(slurmClusters).set({ version: '24.05.1' }).where(eq(slurmClusters.id, cluster.id))
    await expect(save(conf('n[1-2]', 'TLSType=tls/none\n'))).resolves.toBeTruthy()
  })

  test('accepts an error that the edited version has already', async () => {
    await t.runtime.db.delete(slurmConfigVersions).where(eq(slurmConfigVersions.clusterId, cluster.id))
    await imported(conf('n[1-2]', 'SitePatch=1\n'))
    await expect(save(conf('n[1-3]', 'SitePatch=1\n'))).resolves.toMatchObject({ number: 2 })
  })

  test('refuses the same files, and while the configuration is reused', async () => {
    await expect(save(ONE)).rejects.toMatchObject({ issues: [{ path: 'files' }] })
    await updateSlurmCluster(ours.admin, { id: cluster.id, reuseConfig: true })
    await expect(save(conf('n1'))).rejects.toThrow(/is reused: Muster never writes it/)
  })

  test('applies changes of keys to the edited version', async () => {
    const changes = [
      { key: 'KillWait', value: '60' },
      { partition: 'debug', key: 'MaxTime', value: '1-0' },
      { nodes: 'n2', key: 'Weight', value: '5' },
    ]
    const base = { clusterId: cluster.id, number: 1 }
    const previewed = await previewSlurmConfig(ours.operator, { ...base, changes })
    expect(previewed).toMatchObject({ fingerprint: null, diff: [{ file: 'slurm.conf' }] })
    const saved = await saveSlurmConfig(ours.admin, { clusterId: cluster.id, reason, basedOn: 1, changes })
    expect(saved).toMatchObject({ number: 2, origin: 'EDITED' })
    expect(saved.files['slurm.conf']).toBe(
      'ClusterName=alpha\nSlurmctldHost=ctl\nKillWait=60\nNodeName=n1 CPUs=8\nNodeName=n2 CPUs=8 Weight=5\nPartitionName=debug Nodes=n[1-2] State=UP MaxTime=1-0\n',
    )
    // Another user saved a version meanwhile.
    await expect(saveSlurmConfig(ours.admin, { clusterId: cluster.id, reason, basedOn: 1, changes })).rejects.toThrow(/meanwhile/)
  })

  test('rejects more than 100 changes', async () => {
    const changes = Array.from({ length: 101 }, () => ({ key: 'KillWait', value: '9' }))
    const tried = (given: ConfigChange[]) =>
      previewSlurmConfig(ours.operator, { clusterId: cluster.id, number: 1, changes: given })
    await expect(tried(changes)).rejects.toThrow(/at most 100 changes/)
    expect(await tried(changes.slice(1))).toMatchObject({ diff: [{ file: 'slurm.conf' }] })
  })

  test('names changes that are not possible', async () => {
    const tried = (...changes: ConfigChange[]) =>
      saveSlurmConfig(ours.admin, { clusterId: cluster.id, reason, basedOn: 1, changes })
    await expect(
      tried({ key: 'KillWait', value: '9' }, { partition: 'nosuch', key: 'State', value: 'UP' }),
    ).rejects.toMatchObject({
      issues: [{ path: 'changes.1', message: 'The configuration has no partition nosuch.' }],
    })
    await expect(tried({ key: 'KillWait', value: 'soon' })).rejects.toMatchObject({ issues: [{ path: 'slurm.conf:3' }] })
    await expect(tried()).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(
      saveSlurmConfig(ours.admin, {
        clusterId: cluster.id,
        reason,
        basedOn: 1,
        files: ONE,
        changes: [{ key: 'KillWait', value: '9' }],
      }),
    ).rejects.toMatchObject({ issues: [{ path: 'files' }] })
  })

  test('needs an admin', async () => {
    await expect(save(conf('n1'), 1, ours.operator)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })
})

describe('validation', () => {
  const validate = (number: number, ctx = ours.operator) => validateSlurmConfig(ctx, { clusterId: cluster.id, number })
  const result = async (operation: SlurmOperation, phase: string, message: string | null) => {
    await t.runtime.db
      .update(slurmOperationNodes)
      .set({ phase, message })
      .where(eq(slurmOperationNodes.operationId, operation.id))
    await end(operation, message)
  }

  test('needs an imported version', async () => {
    await expect(validate(1)).rejects.toThrow(/was not imported yet/)
    await imported()
    await expect(validate(2)).rejects.toThrow(/no version 2/)
    await expect(validate(1, ours.viewer)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  test('shows the last result of each version, also of a rollout', async () => {
    await imported()
    await save(conf('n[1-3]'))
    expect((await preview(2)).validation).toBeNull()
    const first = await validate(2)
    expect(first).toMatchObject({ kind: 'CONFIGURE', input: { action: 'VALIDATE', number: 2 } })
    expect((await preview(2)).validation).toBeNull()
    await result(first, 'REFUSED', 'fatal: no plugin')
    expect((await preview(2)).validation).toMatchObject({
      state: 'REFUSED',
      message: 'fatal: no plugin',
      validatedAt: expect.any(Date),
    })
    expect((await preview(1)).validation).toBeNull()
    await result(await rollout(2), 'ACCEPTED', null)
    expect((await preview(2)).validation).toMatchObject({ state: 'ACCEPTED', message: null })
  })
})

describe('preview', () => {
  beforeEach(() => imported())

  test('has problems, diff, plan, and what a reload undoes', async () => {
    await save(conf('n[1-3]'))
    expect(await preview(2)).toMatchObject({
      from: { number: 1 },
      release: '22.05.8',
      problems: [],
      diff: [{ file: 'slurm.conf' }],
      plan: {
        controllers: 'RESTART',
        addedNodes: ['n3'],
        lost: expect.arrayContaining(['The partition debug is DRAIN and becomes UP.']),
      },
      hosts: [expect.any(String)],
      blockedReason: null,
    })
  })

  test('has what scontrol changed, without what the version itself changes', async () => {
    await refreshed([], 'State=IDLE Weight=7 AvailableFeatures=b,a ActiveFeatures=b,a', 'State=UP Nodes=n1')
    await save(conf('n[1-2]', 'MaxArraySize=5\nNodeName=DEFAULT Features=c\n'))
    const undone = expect.stringMatching(/^Changes made with scontrol .* are undone\.$/)
    expect((await preview(2)).plan.lost).toEqual([
      undone,
      'The node list of the partition debug is n1 and becomes n[1-2].',
      'The weight of n1 is 7 and becomes 1.',
      'The feature list of n1 is a,b and becomes c.',
    ])
    await save(conf('n[1-3]'), 2)
    await refreshed([], 'State=IDLE Weight=1', 'State=UP Nodes=n[1-2]')
    expect((await preview(3)).plan.lost).toEqual([undone])
  })

  test('judges text that is not saved', async () => {
    const files = conf('n[1-2]', 'Bad=1\n')
    const found = await previewSlurmConfig(ours.admin, { clusterId: cluster.id, files })
    expect(found).toMatchObject({ problems: [{ line: 3, key: 'Bad', severity: 'ERROR' }], fingerprint: null })
    expect(found.blockedReason).toMatch(/It has errors, the first in slurm.conf/)
  })
})

describe('rollout', () => {
  beforeEach(() => imported())

  test('includes the controller that the new files add', async () => {
    await save(conf('n[1-2]', 'SlurmctldHost=Ctl2.example.org(10.7.7.2)\n'))
    const unknown = /adds the controller ctl2, which is no node of the inventory/
    expect(await preview(2)).toMatchObject({ hosts: [expect.any(String)], blockedReason: expect.stringMatching(unknown) })
    await expect(rollout(2)).rejects.toThrow(unknown)
    const [added] = await t.given.fleet(ours.admin, { nodes: 1, prefix: 'second', with: { host: '10.7.7.2' } })
    const denied = /adds the controller ctl2. The node \S+ fits, but your grant for the cluster gives no access to further nodes/
    const request = { clusterId: cluster.id, number: 2 }
    expect((await previewSlurmConfig(grantee(), request)).blockedReason).toMatch(denied)
    expect(await preview(2)).toMatchObject({ hosts: [expect.any(String), added!.name], blockedReason: null })
    const started = await rollout(2)
    const read = { operationId: started.id, clusterId: cluster.id, from: 1, to: 2 }
    const ids = [cluster.controllerNodeId, added!.id]
    const { hosts, controllers, onlyBefore, onlyAfter } = await readSlurmRollout(ours.worker, read)
    expect([onlyBefore, onlyAfter].map((list) => list.map(({ name }) => name))).toEqual([[], [added!.name]])
    expect([hosts, controllers].map((list) => list.map(({ nodeId }) => nodeId))).toEqual([ids, ids])

    await end(started)
    await recordSlurmConfigRollout(ours.worker, { clusterId: cluster.id, number: 2 })
    const settings = { 'SlurmctldHost[0]': `${cluster.name}(10.7.7.1)`, 'SlurmctldHost[1]': 'ctl2(10.7.7.2)' }
    await t.runtime.db.update(slurmClusters).set({ settings, backupNodeId: added!.id }).where(eq(slurmClusters.id, cluster.id))
    await t.given.fleet(ours.admin, { nodes: 1, prefix: 'first', with: { host: '10.7.7.1' } })
    const back = await rollbackSlurmConfig(ours.admin, base())
    const removed = await readSlurmRollout(ours.worker, { ...read, operationId: back.id, from: 2, to: 3 })
    expect(removed).toMatchObject({ onlyBefore: [{ name: added!.name }], onlyAfter: [] })
  })

  test('starts an operation for the plan of its preview only', async () => {
    await save(conf('n[1-3]'))
    const { fingerprint } = await preview(2)
    await expect(rollout(2, 'another')).rejects.toThrow(/Preview it again/)
    expect(await rollout(2, fingerprint!)).toMatchObject({
      kind: 'CONFIGURE',
      configNumber: 2,
      input: { action: 'ROLLOUT', from: 1, to: 2 },
      plan: { controllers: 'RESTART' },
    })
    await expect(rollout(2, fingerprint!)).rejects.toThrow(/The operation CONFIGURE .* runs on the cluster/)
  })

  test('refuses a version that removes the node of a running job', async () => {
    await save(conf('n1'))
    const job = { id: 7, name: 'a', user: 'u', partition: 'debug', states: ['RUNNING'], nodes: 'n2' } as SlurmJob
    await refreshed([
      { ...job, arrayJobId: null, arrayTaskId: null, arrayTasks: null, hetJobId: null, hetJobOffset: null } as SlurmJob,
    ])
    await expect(rollout(2)).rejects.toThrow('The job 7 runs on n2, which the configuration removes.')
    await refreshed([])
    await expect(rollout(2)).resolves.toBeTruthy()
  })

  test('is refused while the configuration is reused', async () => {
    await save(conf('n[1-3]'))
    await updateSlurmCluster(ours.admin, { id: cluster.id, reuseConfig: true })
    await expect(rollout(2)).rejects.toThrow(/is reused/)
    await expect(rollbackSlurmConfig(ours.admin, { ...base(), number: 2 })).rejects.toThrow(/is reused/)
  })

  test('neither adds nor removes nodes of a managed cluster, also as a rollback', async () => {
    await save(conf('n[1-3]'))
    await end(await rollout(2))
    await recordSlurmConfigRollout(ours.worker, { clusterId: cluster.id, number: 2 })
    await t.runtime.db.update(slurmClusters).set({ kind: 'MANAGED' }).where(eq(slurmClusters.id, cluster.id))
    await expect(rollbackSlurmConfig(ours.admin, base())).rejects.toThrow(/removes n3\. Nodes of the managed cluster prod/)
    await save(conf('n[1-5]'), 2)
    await expect(rollout(3)).rejects.toThrow(/adds n\[4-5\]/)
    await save(conf('n[1-3]', 'KillWait=60\n'), 3)
    await expect(rollout(4)).resolves.toBeTruthy()
  })

  test('refuses the version that the hosts have', async () => {
    await expect(rollout(1)).rejects.toThrow(/have these files already/)
  })
})

test('a rollback stores the earlier files as a new version, and rolls them out', async () => {
  await imported()
  await expect(rollbackSlurmConfig(ours.admin, base())).rejects.toThrow(/no earlier version/)
  await save(conf('n[1-3]'))
  await end(await rollout(2))
  await recordSlurmConfigRollout(ours.worker, { clusterId: cluster.id, number: 2 })
  expect(await rollbackSlurmConfig(ours.admin, base())).toMatchObject({ input: { action: 'ROLLOUT', from: 2, to: 3 } })
  const versions = await t.runtime.db.select().from(slurmConfigVersions).where(eq(slurmConfigVersions.clusterId, cluster.id))
  expect(versions.at(-1)).toMatchObject({ number: 3, origin: 'RESTORED', basedOn: 2, files: ONE })
})

test('a rollback restores what the hosts had, not a version that was only saved', async () => {
  await imported()
  await save(conf('n[1-3]'))
  await save(conf('n[1-4]'), 2)
  await end(await rollout(3))
  await recordSlurmConfigRollout(ours.worker, { clusterId: cluster.id, number: 3 })
  expect(await rollbackSlurmConfig(ours.admin, base())).toMatchObject({ input: { from: 3, to: 4 } })
  const versions = await t.runtime.db.select().from(slurmConfigVersions).where(eq(slurmConfigVersions.clusterId, cluster.id))
  expect(versions.at(-1)).toMatchObject({ number: 4, origin: 'RESTORED', basedOn: 3, files: ONE })
})

test('a drift check stores the difference of each host', async () => {
  await expect(checkSlurmConfigDrift(ours.operator, { clusterId: cluster.id })).rejects.toThrow(/was not imported yet/)
  await imported()
  expect(await checkSlurmConfigDrift(ours.operator, { clusterId: cluster.id })).toMatchObject({
    input: { action: 'CHECK', from: 1 },
  })
  await recordSlurmConfigDrift(ours.worker, { clusterId: cluster.id, drift: { ctl: '+KillWait=9' } })
  expect(await stored()).toMatchObject({ configDrift: { ctl: '+KillWait=9' } })
})
