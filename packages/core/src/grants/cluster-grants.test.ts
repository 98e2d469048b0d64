import { asc, eq, isNotNull } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiToken, createServiceAccount, findActorByToken, findMemberships } from '../access/index.ts'
import { addSlurmCluster, refreshSlurmCluster, removeSlurmCluster, type SlurmCluster } from '../clusters/index.ts'
import { createNodeGroup, setNodeGroupMembers } from '../groups/index.ts'
import { tenantCtx } from '../kernel/context.ts'
import { actorRole, type Grant, perClusterPermissions, perNodePermissions, rolePermissions } from '../kernel/permissions.ts'
import type { Ctx } from '../registry.ts'
import { previewRun, runJob } from '../runs/index.ts'
import { jobRuns } from '../runs/tables.ts'
import {
  previewSlurmAction,
  type SlurmVerb,
  slurmActionItems,
  slurmTargetBlockedReason,
  startSlurmAction,
} from '../slurm-actions/index.ts'
import {
  applySlurmConfigSnippets,
  checkSlurmConfigDrift,
  importSlurmConfig,
  previewSlurmConfig,
  rollbackSlurmConfig,
  rolloutSlurmConfig,
  saveSlurmConfig,
  validateSlurmConfig,
} from '../slurm-configs/index.ts'
import { cancelSlurmOperation, slurmOperations } from '../slurm-operations/index.ts'
import { previewSlurmPowerSaving, setSlurmPowerSaving } from '../slurm-power/index.ts'
import {
  checkSlurmReadiness,
  previewSlurmScaleIn,
  previewSlurmScaleOut,
  releaseSlurmCluster,
  scaleInSlurmCluster,
  scaleOutSlurmCluster,
} from '../slurm-scaling/index.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { recordRefresh } from '../testing/record-refresh.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { slurmJob, slurmNode, slurmPartition, slurmReservation } from '../testing/slurm-fixture.ts'
import { createGrant } from './create-grant.ts'
import { grants } from './tables.ts'

let t: TestRuntime
let ours: TenantFixture
let theirs: TenantFixture
/** The first one has the partitions debug, with n1 and n2, and gpu, with n2 and n3. */
let clusters: Record<'hopper' | 'other', SlurmCluster>
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
  theirs = await t.given.tenant()
  const { id: credentialId } = await t.given.credential(ours.admin, 'SSH_KEY')
  await t.given.fleet(ours.admin, { nodes: 3, prefix: 'n', with: { credentialId } })
  const [one, two] = await t.given.fleet(ours.admin, { nodes: 2, prefix: 'ctl', with: (i) => ({ host: `10.9.9.${i + 1}` }) })
  clusters = {
    hopper: await addSlurmCluster(ours.admin, { name: 'hopper', controllerNodeId: one!.id }),
    other: await addSlurmCluster(ours.admin, { name: 'other', controllerNodeId: two!.id }),
  }
  const node = (name: string, ...partitions: string[]) => slurmNode(name, { states: ['IDLE'], partitions })
  const reservation = (name: string, nodes: string) => ({ ...slurmReservation(name), nodes, endAt: new Date('2026-01-01') })
  await recordRefresh(ours.worker, {
    ...{ id: clusters.hopper.id, queries: [], durationMs: 0, error: null },
    state: {
      ...{ clusterName: 'hopper', version: '23.11.11', controllers: [], settings: null, scheduler: null },
      nodes: [node('n001', 'debug'), node('n002', 'debug', 'gpu'), node('n003', 'gpu')],
      partitions: [slurmPartition('debug'), slurmPartition('gpu')],
      reservations: [reservation('r1', 'n001'), reservation('r3', 'n003')],
      jobs: [
        slurmJob(1, { nodes: 'n001', partition: 'debug' }),
        slurmJob(2, { nodes: 'n003', partition: 'gpu' }),
        slurmJob(3, { nodes: '', states: ['PENDING'], partition: 'debug,gpu' }),
        slurmJob(12, { nodes: 'n001', partition: 'debug', hetJobId: 12, hetJobOffset: 0 }),
        slurmJob(13, { nodes: 'n003', partition: 'gpu', hetJobId: 12, hetJobOffset: 1 }),
      ],
    },
  })
})
afterAll(() => t.close())

const grantOf = (partitions: string[] | null, more: Partial<Grant> = {}): Grant => ({
  permissions: perClusterPermissions(),
  groupIds: [],
  templateIds: null,
  credentialIds: null,
  cluster: { id: clusters.hopper.id, partitions },
  ...more,
})
/** A viewer with these grants. */
const granted = (...list: Grant[]): Ctx =>
  tenantCtx(t.runtime, ours.tenant.id, {
    ...{ kind: 'user', id: ours.viewer.actor.id!, name: 'granted' },
    ...{ ...actorRole('viewer'), grants: list },
  })
const asToken = async (token: string): Promise<Ctx> => {
  const found = await findActorByToken(t.runtime.db, token, '192.0.2.1')
  return tenantCtx(t.runtime, found!.tenantId, found!.actor)
}
/** Rejected for another reason than the caller's permissions. */
const isAllowed = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'allowed',
    (error: { code?: string; message: string }) => (error.code === 'FORBIDDEN' ? error.message : 'allowed'),
  )
type Request = Omit<Parameters<typeof startSlurmAction>[1], 'clusterId' | 'reason'>
const start = (ctx: Ctx, request: Request) => startSlurmAction(ctx, { clusterId: clusters.hopper.id, reason: 'r', ...request })
const preview = (ctx: Ctx, request: Request) =>
  previewSlurmAction(ctx, { clusterId: clusters.hopper.id, reason: 'r', ...request })

const n1 = { nodes: { hostlist: 'n001' } }
const job1 = { jobs: { ids: ['1'] } }
/** Verbs on n1 or the job 1 of the partition debug, by their permission. */
const PARTITION_VERBS: [permission: string, request: Request][] = [
  ['slurm:node:drain', { verb: 'DRAIN_NODES', ...n1 }],
  ['slurm:node:resume', { verb: 'RESUME_NODES', ...n1 }],
  ['slurm:node:resume', { verb: 'UNDRAIN_NODES', ...n1 }],
  ['slurm:node:down', { verb: 'DOWN_NODES', ...n1 }],
  ['slurm:node:power', { verb: 'POWER_UP_NODES', ...n1 }],
  ['slurm:node:reboot', { verb: 'REBOOT_NODES', ...n1 }],
  ['slurm:node:update', { verb: 'UPDATE_NODES', weight: 5, ...n1 }],
  ['slurm:job:hold', { verb: 'HOLD_JOBS', ...job1 }],
  ['slurm:job:cancel', { verb: 'CANCEL_JOBS', ...job1 }],
  ['slurm:job:requeue', { verb: 'REQUEUE_JOBS', ...job1 }],
  ['slurm:job:suspend', { verb: 'SUSPEND_JOBS', ...job1 }],
  ['slurm:job:update', { verb: 'UPDATE_JOBS', priority: 5, ...job1 }],
  ['slurm:partition:set_state', { verb: 'SET_PARTITION_STATE', partitions: ['debug'], partitionState: 'UP' }],
  ['slurm:reservation:write', { verb: 'DELETE_RESERVATION', reservation: { name: 'r1' } }],
]
const config = { basedOn: 1, files: { 'slurm.conf': 'x' } as never, reason: 'r' }
const scaling = { reason: 'r', fingerprint: 'x' }
async function operation(clusterId: string): Promise<string> {
  const fields = { tenantId: ours.tenant.id, clusterId, kind: 'CONFIGURE' as const, reason: 'r', createdByName: 'Ada' }
  await t.runtime.db.delete(slurmOperations).where(eq(slurmOperations.clusterId, clusterId))
  return (await t.runtime.db.insert(slurmOperations).values(fields).returning())[0]!.id
}
const CLUSTER_VERBS: [permission: string, verb: string, call: (ctx: Ctx, clusterId: string) => Promise<unknown>][] = [
  ['slurm:cluster:refresh', 'refreshSlurmCluster', (ctx, id) => refreshSlurmCluster(ctx, { id })],
  ['slurm:config:check', 'previewSlurmConfig', (ctx, clusterId) => previewSlurmConfig(ctx, { clusterId, number: 1 })],
  ['slurm:config:check', 'validateSlurmConfig', (ctx, clusterId) => validateSlurmConfig(ctx, { clusterId, number: 1 })],
  ['slurm:config:check', 'checkSlurmConfigDrift', (ctx, clusterId) => checkSlurmConfigDrift(ctx, { clusterId })],
  ['slurm:config:write', 'saveSlurmConfig', (ctx, clusterId) => saveSlurmConfig(ctx, { clusterId, ...config })],
  [
    'slurm:config:write',
    'applySlurmConfigSnippets',
    (ctx, clusterId) => applySlurmConfigSnippets(ctx, { clusterId, ...scaling }),
  ],
  ['slurm:config:write', 'importSlurmConfig', (ctx, clusterId) => importSlurmConfig(ctx, { clusterId, reason: 'r' })],
  ['slurm:config:write', 'rolloutSlurmConfig', (ctx, clusterId) => rolloutSlurmConfig(ctx, { clusterId, number: 1, ...scaling })],
  ['slurm:config:write', 'rollbackSlurmConfig', (ctx, clusterId) => rollbackSlurmConfig(ctx, { clusterId, reason: 'r' })],
  ['slurm:scale:nodes', 'previewSlurmScaleIn', (ctx, clusterId) => previewSlurmScaleIn(ctx, { clusterId, hostlist: 'n001' })],
  ['slurm:scale:nodes', 'previewSlurmScaleOut', (ctx, clusterId) => previewSlurmScaleOut(ctx, { clusterId, limit: 'n001' })],
  [
    'slurm:scale:nodes',
    'scaleInSlurmCluster',
    (ctx, clusterId) => scaleInSlurmCluster(ctx, { clusterId, hostlist: 'n001', deadlineSeconds: 0, ...scaling }),
  ],
  [
    'slurm:scale:nodes',
    'scaleOutSlurmCluster',
    (ctx, clusterId) => scaleOutSlurmCluster(ctx, { clusterId, limit: 'n001', ...scaling }),
  ],
  ['slurm:scale:nodes', 'checkSlurmReadiness', (ctx, clusterId) => checkSlurmReadiness(ctx, { clusterId, limit: 'n001' })],
  ['slurm:scale:nodes', 'releaseSlurmCluster', (ctx, id) => releaseSlurmCluster(ctx, { id })],
  [
    'slurm:power:write',
    'previewSlurmPowerSaving',
    (ctx, clusterId) => previewSlurmPowerSaving(ctx, { clusterId, settings: null }),
  ],
  [
    'slurm:power:write',
    'setSlurmPowerSaving',
    (ctx, clusterId) => setSlurmPowerSaving(ctx, { clusterId, settings: null, ...scaling }),
  ],
  ['slurm:operation:cancel', 'cancelSlurmOperation', async (ctx, id) => cancelSlurmOperation(ctx, { id: await operation(id) })],
]

const without = (permission: string) => new Set([...perClusterPermissions()].filter((name) => name !== permission))

test('every permission that a grant for a cluster can give has a verb in the tables, and no grant for a group gives it', () => {
  const tested = [...PARTITION_VERBS, ...CLUSTER_VERBS].map(([permission]) => permission)
  expect([...new Set(tested)].sort()).toEqual([...perClusterPermissions()].sort())
  expect([...perClusterPermissions()].filter((name) => perNodePermissions().has(name))).toEqual([])
})

test.each(PARTITION_VERBS)('%s: %j needs a grant for the partition', async (permission, request) => {
  for (const call of [start, preview]) {
    expect(await isAllowed(call(granted(grantOf(['debug'])), request))).toBe('allowed')
    expect(await isAllowed(call(granted(grantOf(null)), request))).toBe('allowed')
    expect(await isAllowed(call(granted(grantOf(['gpu'])), request))).toMatch(
      /It belongs to the partition debug\. Your grants give the permission .* only for the partition gpu of the cluster hopper/,
    )
    expect(await isAllowed(call(granted(grantOf(null, { permissions: without(permission) })), request))).toMatch(permission)
    const other = granted(grantOf(null, { cluster: { id: clusters.other.id, partitions: null } }))
    expect(await isAllowed(call(other, request))).toMatch(/for other clusters than hopper/)
  }
})

test.each(CLUSTER_VERBS)('%s: %s needs a grant for the whole cluster', async (permission, _verb, call) => {
  const { id } = clusters.hopper
  expect(await isAllowed(call(granted(grantOf(['debug', 'gpu'])), id))).toMatch(/this concerns the whole cluster/)
  expect(await isAllowed(call(granted(grantOf(null)), clusters.other.id))).toMatch(/for other clusters than other/)
  expect(await isAllowed(call(granted(grantOf(null, { permissions: without(permission) })), id))).toMatch(permission)
  expect(await isAllowed(call(granted(grantOf(null)), id))).toBe('allowed')
})

describe('targets', () => {
  const debug = () => granted(grantOf(['debug']))
  const drain = (ctx: Ctx, hostlist: string) => isAllowed(preview(ctx, { verb: 'DRAIN_NODES', nodes: { hostlist } }))
  const cancel = (ctx: Ctx, ...ids: string[]) => isAllowed(preview(ctx, { verb: 'CANCEL_JOBS', jobs: { ids } }))

  test('a node in several partitions needs all of them; named nodes are all or nothing', async () => {
    expect(await drain(debug(), 'n002')).toMatch(/^n002: It belongs to the partition gpu\./)
    expect(await drain(debug(), 'n[001-003]')).toMatch(/^n002, n003: /)
    expect(await drain(debug(), 'n009')).toMatch(/^n009: Its partitions are not known\./)
    expect(await drain(granted(grantOf(['debug']), grantOf(['gpu'])), 'n[001-003]')).toBe('allowed')
  })

  test('a job needs its partitions, and those of its other components', async () => {
    expect(await cancel(debug(), '1')).toBe('allowed')
    expect(await cancel(debug(), '3')).toMatch(/^3: It belongs to the partition gpu/)
    expect(await cancel(debug(), '12')).toMatch(/^12: /)
    expect(await cancel(debug(), '12+0')).toBe('allowed')
    expect(await cancel(debug(), '99')).toMatch(/not known/)
  })

  test('targets that other conditions find are left out, with the reasons', async () => {
    const nodes: Request = { verb: 'DRAIN_NODES', nodes: { partition: 'debug' } }
    const shown = await preview(debug(), nodes)
    expect(shown.targets.map(({ target }) => target)).toEqual(['n001'])
    expect(shown.denied).toMatchObject([{ target: 'n002', reason: expect.stringContaining('the partition gpu') }])
    expect(shown.commands).toEqual(['scontrol update nodename=n001 state=drain reason="r"'])
    const whole = await preview(granted(grantOf(null)), nodes)
    await expect(start(debug(), { ...nodes, fingerprint: whole.fingerprint })).rejects.toThrow(/Other targets match/)
    const { id } = await start(debug(), { ...nodes, fingerprint: shown.fingerprint })
    const items = await t.runtime.db.select().from(slurmActionItems).where(eq(slurmActionItems.actionId, id))
    expect(items.map(({ target }) => target)).toEqual(['n001'])
    const jobs = await preview(debug(), { verb: 'CANCEL_JOBS', jobs: { user: 'alice' } })
    expect(jobs.targets.map(({ target }) => target)).toEqual(['1'])
    expect(jobs.denied.map(({ target }) => target)).toEqual(['2', '3', '12'])
    expect(await isAllowed(preview(debug(), { verb: 'HOLD_JOBS', jobs: { partition: 'gpu' } }))).toMatch(/^2: /)
  })

  test('a reservation needs the partitions of the nodes that it has and gets', async () => {
    const write = (verb: 'CREATE_RESERVATION' | 'UPDATE_RESERVATION', name: string, hostlist?: string) =>
      isAllowed(preview(debug(), { verb, reservation: { name, hostlist, durationMinutes: 5, users: ['root'] } }))
    expect(await write('CREATE_RESERVATION', 'new', 'n001')).toBe('allowed')
    expect(await write('CREATE_RESERVATION', 'new', 'n[001-002]')).toMatch(/^n002: /)
    expect(await write('CREATE_RESERVATION', 'new', 'n009')).toMatch(/^n009: Its partitions are not known/)
    expect(await write('UPDATE_RESERVATION', 'r1')).toBe('allowed')
    expect(await write('UPDATE_RESERVATION', 'r1', 'n003')).toMatch(/^n003: /)
    expect(await write('UPDATE_RESERVATION', 'r3', 'n001')).toMatch(/^n003: /)
    expect(await write('UPDATE_RESERVATION', 'gone', 'n001')).toMatch(/^gone: Its partitions are not known/)
  })
})

test('a run over batches needs grants for its nodes, and to drain and resume them', async () => {
  const group = await createNodeGroup(ours.admin, { name: 'hopper_nodes' })
  const rows = await t.runtime.db.query.computeNodes.findMany({ where: { tenantId: ours.tenant.id, name: { like: 'n0%' } } })
  await setNodeGroupMembers(ours.admin, { id: group.id, addNodeIds: rows.map(({ id }) => id) })
  const nodes: Grant = { ...grantOf(null), permissions: perNodePermissions(), groupIds: [group.id], cluster: null }
  /** What the preview and the start say, one after the other. */
  const run = async (limit: string, ...list: Grant[]) => {
    const input = { template: 'connectivity_check', limit, slurm: { floorPercent: 0 } }
    const shown = await isAllowed(previewRun(granted(...list), input))
    expect(await isAllowed(runJob(granted(...list), input))).toBe(shown)
    return shown
  }
  expect(await run('n001', nodes)).toMatch(/slurm:node:drain/)
  expect(await run('n001', grantOf(null))).toMatch(/job_run:start/)
  expect(await run('n002', nodes, grantOf(['debug']))).toMatch(/^n002: It belongs to the partition gpu/)
  const onlyDrain = grantOf(['debug'], { permissions: new Set(['slurm:node:drain']) })
  const onlyResume = grantOf(['gpu'], { permissions: new Set(['slurm:node:resume']) })
  expect(await run('n001', nodes, onlyDrain, onlyResume)).toMatch(/slurm:node:resume only for the partition gpu/)
  expect(await run('n001', nodes, grantOf(['debug']))).toBe('allowed')
  expect(await t.runtime.db.$count(jobRuns, isNotNull(jobRuns.slurm))).toBe(1)
})

test('a grant for a cluster gives no access to further machines', async () => {
  const importing = (ctx: Ctx, nodeIds: string[]) =>
    isAllowed(importSlurmConfig(ctx, { clusterId: clusters.hopper.id, nodeIds, reason: 'r' }))
  const node = await t.runtime.db.query.computeNodes.findFirst({ where: { tenantId: ours.tenant.id, name: 'n003' } })
  expect(await importing(granted(grantOf(null)), [node!.id])).toMatch(/in the whole tenant/)
})

describe('createGrant', () => {
  const memberOf = async (ctx: Ctx) =>
    (await t.runtime.db.query.members.findFirst({ where: { tenantId: ctx.tenantId, userId: ctx.actor.id! } }))!
  const give = async (more: object) =>
    createGrant(ours.admin, { memberId: (await memberOf(ours.viewer)).id, role: 'operator', ...more })
  const grantsOfViewer = async () => {
    const [membership] = await findMemberships(t.runtime.db, ours.viewer.actor.id!)
    return membership!.authority.grants
  }

  test('gives the permissions of the role that concern clusters, until the cluster is removed', async () => {
    const [controller] = await t.given.fleet(ours.admin, { nodes: 1, prefix: 'tmp', with: { host: '10.9.9.77' } })
    const cluster = await addSlurmCluster(ours.admin, { name: 'tmp', controllerNodeId: controller!.id })
    await give({ slurmClusterId: cluster.id })
    await give({ slurmClusterId: clusters.hopper.id, partitions: ['debug', 'debug'] })
    const operator = new Set([...rolePermissions('operator')].filter((name) => perClusterPermissions().has(name)))
    expect(operator.has('slurm:node:drain') && !operator.has('slurm:node:down')).toBe(true)
    const given = { permissions: operator, groupIds: [], templateIds: null, credentialIds: null }
    expect(await grantsOfViewer()).toEqual([
      { ...given, cluster: { id: cluster.id, partitions: null } },
      { ...given, cluster: { id: clusters.hopper.id, partitions: ['debug'] } },
    ])
    await removeSlurmCluster(ours.admin, { id: cluster.id })
    expect(await t.runtime.db.select().from(grants).orderBy(asc(grants.id))).toMatchObject([{ clusterId: clusters.hopper.id }])
  })

  test('rejects both scopes or none, options of the other one, unknown partitions, and roles without permissions for it', async () => {
    const group = await createNodeGroup(ours.admin, { name: 'some' })
    const slurmClusterId = clusters.hopper.id
    const { id } = await t.given.credential(ours.admin, 'SSH_KEY')
    for (const more of [
      {},
      { slurmClusterId, nodeGroupId: group.id },
      { nodeGroupId: group.id, partitions: ['debug'] },
      { slurmClusterId, credentialIds: [id] },
      { slurmClusterId, partitions: [] },
      { slurmClusterId, role: 'viewer' },
    ])
      await expect(give(more), JSON.stringify(more)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(give({ slurmClusterId, partitions: ['debug', 'x'] })).rejects.toThrow(/the cluster hopper has no partition x/)
    const member = await memberOf(theirs.viewer)
    const foreign = { memberId: member.id, role: 'operator', slurmClusterId }
    await expect(createGrant(theirs.owner, foreign)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('tokens carry it, unless they are limited to groups', async () => {
    const account = await createServiceAccount(ours.admin, { name: 'drainer', role: 'viewer' })
    await createGrant(ours.admin, {
      ...{ memberId: account.id, role: 'operator' },
      ...{ slurmClusterId: clusters.hopper.id, partitions: ['debug'] },
    })
    const group = await createNodeGroup(ours.admin, { name: 'token_group' })
    const create = async (more: object) =>
      asToken((await createApiToken(ours.admin, { name: 'n', role: 'operator', serviceAccountId: account.id, ...more })).token)
    const drain = (ctx: Ctx, hostlist: string) => isAllowed(preview(ctx, { verb: 'DRAIN_NODES', nodes: { hostlist } }))
    expect(await drain(await create({}), 'n001')).toBe('allowed')
    expect(await drain(await create({}), 'n003')).toMatch(/the partition gpu/)
    expect(await drain(await create({ permissions: ['slurm:node:resume'] }), 'n001')).toMatch(/slurm:node:drain/)
    expect(await drain(await create({ nodeGroupIds: [group.id] }), 'n001')).toMatch(/slurm:node:drain/)
  })
})

test('blocked reasons of a target are those of its partitions and of the verb', () => {
  const { actor } = granted(grantOf(['debug'], { permissions: new Set(['slurm:node:drain', 'slurm:job:hold']) }))
  const reason = (verb: SlurmVerb, ...partitions: string[]) => slurmTargetBlockedReason(actor, clusters.hopper, verb, partitions)
  expect(reason('DRAIN_NODES', 'debug')).toBeNull()
  expect(reason('DRAIN_NODES', 'debug', 'gpu')).toMatch(/^It belongs to the partition gpu\. .*only for the partition debug/)
  expect(reason('DRAIN_NODES')).toMatch(/^Its partitions are not known/)
  expect(reason('RESUME_NODES', 'debug')).toMatch(/slurm:node:resume/)
  expect(reason('HOLD_JOBS', 'debug')).toBeNull()
  expect(slurmTargetBlockedReason(actor, clusters.other, 'DRAIN_NODES', ['debug'])).toMatch(/for other clusters than other/)
})
