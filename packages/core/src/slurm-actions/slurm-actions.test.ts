import { parseNodes, parsePartitions, type SlurmJob } from '@muster/slurm'
import { and, asc, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { tenants } from '../access/tables.ts'
import { auditEntries } from '../audit/tables.ts'
import {
  addSlurmCluster,
  type ClusterState,
  removeSlurmCluster,
  type SlurmCluster,
  slurmClusterTests,
} from '../clusters/index.ts'
import { systemCtx } from '../kernel/context.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { recordRefresh } from '../testing/record-refresh.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import {
  claimSlurmAction,
  finishSlurmAction,
  previewSlurmAction,
  pruneSlurmActions,
  reassignSlurmActions,
  recordSlurmCommand,
  recordSlurmResults,
  renewSlurmAction,
  slurmActionItems,
  slurmActions,
  startSlurmAction,
} from './index.ts'

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'
const job = (id: number, changes: Partial<SlurmJob> = {}): SlurmJob => ({
  ...({ arrayJobId: null, arrayTaskId: null, arrayTasks: null, hetJobId: null, hetJobOffset: null, startAt: null } as SlurmJob),
  ...{ id, name: `job ${id}`, user: 'alice', partition: 'debug', states: ['RUNNING'], reason: null, reasonDetail: null },
  nodes: 'n1',
  ...changes,
})
const JOBS = [
  job(1),
  job(2, { states: ['PENDING'], nodes: '' }),
  job(3, { user: 'bob', partition: 'gpu', nodes: 'n[1-2]' }),
  job(12, { hetJobId: 12, hetJobOffset: 0, nodes: 'n2' }),
  job(13, { hetJobId: 12, hetJobOffset: 1, nodes: 'n2' }),
]
const state = (jobs: SlurmJob[] = JOBS): ClusterState => ({
  clusterName: 'alpha',
  version: '23.11.11',
  controllers: [],
  settings: null,
  nodes: parseNodes(
    'NodeName=n1 CPUTot=8 State=MIXED Partitions=debug,gpu BootTime=1893456000\nNodeName=n2 CPUTot=8 State=IDLE+DRAIN Partitions=debug Reason=fan [root@1]\n',
  ),
  partitions: parsePartitions('PartitionName=debug State=UP Nodes=n[1-2]\nPartitionName=gpu State=DOWN Nodes=n1\n'),
  reservations: [],
  jobs,
  scheduler: null,
})

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
  cluster = await addSlurmCluster(ours.admin, { name: 'prod', controllerNodeId: node!.id })
  await refreshed()
})
const refreshed = (jobs?: SlurmJob[]) =>
  recordRefresh(ours.worker, { id: cluster.id, queries: [], durationMs: 1, state: state(jobs), error: null })

type Request = Omit<Parameters<typeof startSlurmAction>[1], 'clusterId' | 'reason'>
const preview = (request: Request) => previewSlurmAction(ours.admin, { clusterId: cluster.id, reason: 'swap fan', ...request })
const start = (request: Request, ctx = ours.admin) =>
  startSlurmAction(ctx, { clusterId: cluster.id, reason: 'swap fan', ...request })
const itemsOf = async ({ id }: { id: string }) =>
  t.runtime.db.select().from(slurmActionItems).where(eq(slurmActionItems.actionId, id)).orderBy(asc(slurmActionItems.id))
const names = (rows: { target: string }[]) => rows.map(({ target }) => target)

describe('preview', () => {
  test('shows the state of nodes and the jobs that run on them', async () => {
    const found = await preview({ verb: 'DRAIN_NODES', nodes: { hostlist: 'n[1-3]' } })
    expect(found.targets).toEqual([
      { target: 'n1', state: 'MIXED', isReached: false, partitions: ['debug', 'gpu'], user: null, runningJobs: ['1', '3'] },
      {
        target: 'n2',
        state: 'IDLE+DRAIN: fan',
        isReached: false,
        partitions: ['debug'],
        user: null,
        runningJobs: ['12+0', '12+1', '3'],
      },
      { target: 'n3', state: null, isReached: false, partitions: [], user: null, runningJobs: [] },
    ])
    expect(found.runningJobs).toEqual(['1', '3', '12+0', '12+1'])
    expect(found.commands).toEqual(['scontrol update nodename=n1,n2,n3 state=drain reason="swap fan"'])
  })

  test.each<[Request, string[]]>([
    [{ verb: 'CANCEL_JOBS', jobs: { user: 'alice' } }, ['1', '2', '12']],
    [{ verb: 'HOLD_JOBS', jobs: { user: 'alice' } }, ['1', '2', '12+0', '12+1']],
    [{ verb: 'CANCEL_JOBS', jobs: { partition: 'gpu' } }, ['3']],
    [{ verb: 'CANCEL_JOBS', jobs: { states: ['pending'] } }, ['2']],
    [{ verb: 'RESUME_NODES', nodes: { states: ['DRAIN'] } }, ['n2']],
    [{ verb: 'RESUME_NODES', nodes: { states: ['idle', 'drained'] } }, ['n2']],
    [{ verb: 'DRAIN_NODES', nodes: { partition: 'gpu' } }, ['n1']],
    [{ verb: 'SET_PARTITION_STATE', partitions: ['gpu', 'none'], partitionState: 'UP' }, ['gpu', 'none']],
  ])('resolves %j', async (request, expected) => {
    expect(names((await preview(request)).targets)).toEqual(expected)
  })

  test.each<[Request, RegExp]>([
    [{ verb: 'DRAIN_NODES' }, /nodes: is missing/],
    [{ verb: 'DRAIN_NODES', nodes: {} }, /needs a condition/],
    [{ verb: 'DRAIN_NODES', nodes: { hostlist: 'n1' }, weight: 5 }, /weight: does not apply to DRAIN_NODES/],
    [{ verb: 'DRAIN_NODES', jobs: { ids: ['1'] } }, /jobs: does not apply/],
    [{ verb: 'CANCEL_JOBS', jobs: { user: 'nobody' } }, /nothing in the cluster prod matches/],
    [{ verb: 'CANCEL_JOBS', jobs: { ids: ['--user=root'] } }, /must be a Slurm job/],
    [{ verb: 'UPDATE_JOBS', jobs: { ids: ['1'] } }, /needs a time limit or a priority/],
    [{ verb: 'UPDATE_NODES', nodes: { hostlist: 'ALL' }, weight: 1 }, /^$/],
  ])('refuses %j', async (request, message) => {
    // ALL is a name that no node has: it is shown as unknown, and never part of a command.
    if (message.source === '^$') expect((await preview(request)).commands).toEqual([])
    else await expect(preview(request)).rejects.toThrow(message)
  })
})

describe('starting', () => {
  test('stores the targets and marks the reason with the action', async () => {
    const action = await start({ verb: 'DRAIN_NODES', nodes: { hostlist: 'n1,n9' } }, ours.operator)
    expect(action).toMatchObject({ status: 'PENDING', reason: 'swap fan', targetCount: 2 })
    expect(names(await itemsOf(action))).toEqual(['n1', 'n9'])
    const { reason } = action.action as { reason: string }
    expect(reason).toBe(`swap fan (muster ${action.id.slice(-12)})`)
    const [entry] = await t.runtime.db
      .select()
      .from(auditEntries)
      .where(and(eq(auditEntries.objectId, action.id), eq(auditEntries.action, 'slurm_action.start')))
    expect(entry).toMatchObject({ reason: 'swap fan', details: { cluster: 'prod', targets: 'n[1,9]', verb: 'DRAIN_NODES' } })
  })

  test('of targets that nobody named needs a preview, and the same targets', async () => {
    const request: Request = { verb: 'CANCEL_JOBS', jobs: { user: 'alice' } }
    await expect(start(request)).rejects.toThrow(/preview the action/)
    const { fingerprint } = await preview(request)
    await refreshed([...JOBS, job(20)])
    await expect(start({ ...request, fingerprint })).rejects.toMatchObject({ code: 'CONFLICT' })
    const again = await preview(request)
    expect(names(await itemsOf(await start({ ...request, fingerprint: again.fingerprint })))).toEqual(['1', '2', '12', '20'])
  })

  test('needs the permission of the verb, and a cluster of the tenant with a controller', async () => {
    const down: Request = { verb: 'DOWN_NODES', nodes: { hostlist: 'n1' } }
    await expect(start(down, ours.operator)).rejects.toThrow(/slurm:node:down/)
    await expect(start({ verb: 'HOLD_JOBS', jobs: { ids: ['1'] } }, ours.viewer)).rejects.toThrow(/slurm:job:hold/)
    const theirs = await t.given.tenant()
    await expect(start(down, theirs.admin)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await t.runtime.db.execute(sql`update slurm_clusters set controller_node_id = null where id = ${cluster.id}`)
    await expect(start(down)).rejects.toThrow(/no controller node/)
  })

  test('with an idempotency key happens once', async () => {
    const request: Request = { verb: 'HOLD_JOBS', jobs: { ids: ['1'] }, idempotencyKey: 'one' }
    expect((await start(request)).id).toBe((await start(request)).id)
  })
})

describe('execution', () => {
  const claimOf = (id: string, token = 'a') => claimSlurmAction(ours.worker, { id, token })
  const expire = (id: string) =>
    t.runtime.db.update(slurmActions).set({ claimedUntil: sql`now() - interval '1 s'` }).where(eq(slurmActions.id, id))
  const rowOf = async (id: string) => (await t.runtime.db.select().from(slurmActions).where(eq(slurmActions.id, id)))[0]!

  test('is claimed by one worker at a time; one that lost its claim writes nothing', async () => {
    const { id } = await start({ verb: 'DRAIN_NODES', nodes: { hostlist: 'n1,n2' } })
    const claims = await Promise.all(['a', 'b', 'c'].map((token) => claimOf(id, token)))
    expect(claims.filter(Boolean)).toHaveLength(1)
    expect(names(claims.find(Boolean)!.items)).toEqual(['n1', 'n2'])
    const lost = claims.find(Boolean)!.row.claimToken!
    await expire(id)
    expect(await claimOf(id, 'next')).not.toBeNull()
    const write = { id, token: lost }
    expect(await recordSlurmCommand(ours.worker, { ...write, command: 'x', targets: [] })).toBe(false)
    expect(await recordSlurmResults(ours.worker, { ...write, outcomes: [] })).toBe(false)
    expect(await renewSlurmAction(ours.worker, write)).toBe(false)
    expect(await renewSlurmAction(ours.worker, { id, token: 'next' })).toBe(true)
    expect(await finishSlurmAction(ours.worker, { ...write, error: null })).toBe(false)
  })

  test('stores results, and what remains of an action that ended early', async () => {
    const { id } = await start({ verb: 'DRAIN_NODES', nodes: { hostlist: 'n1,n2,n3' } })
    await claimOf(id)
    const claim = { id, token: 'a' }
    const sent = ['n1', 'n2'].map((target) => ({ target, before: 'IDLE' }))
    expect(await recordSlurmCommand(ours.worker, { ...claim, command: 'scontrol …', targets: sent })).toBe(true)
    const done = { target: 'n1', result: 'DONE' as const, before: null, after: 'IDLE+DRAIN', message: null }
    expect(await recordSlurmResults(ours.worker, { ...claim, outcomes: [done] })).toBe(true)
    expect(await finishSlurmAction(ours.worker, { ...claim, error: 'The connection was lost.' })).toBe(true)
    expect(await itemsOf({ id })).toMatchObject([
      { target: 'n1', result: 'DONE', before: 'IDLE', after: 'IDLE+DRAIN', message: null },
      { target: 'n2', result: 'NOT_VERIFIED', before: 'IDLE', message: 'The connection was lost.' },
      { target: 'n3', result: 'NOT_SENT', sentAt: null },
    ])
    expect(await rowOf(id)).toMatchObject({ status: 'PARTIAL', problemCount: 2, error: 'The connection was lost.' })
    const entries = await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.objectId, id)).orderBy(auditEntries.id)
    expect(entries.map(({ action }) => action)).toEqual(['slurm_action.start', 'slurm_action.execute', 'slurm_action.finish'])
    expect(entries[1]).toMatchObject({
      actorKind: 'worker',
      details: { command: 'scontrol …', before: [{ before: 'IDLE', targets: 'n[1-2]' }] },
    })
    expect(entries[2]!.details).toMatchObject({ status: 'PARTIAL', counts: { DONE: 1, NOT_SENT: 1, NOT_VERIFIED: 1 } })
    const [after] = (
      await t.runtime.db.execute<{ due: boolean }>(
        sql`select next_refresh_at <= now() as due from slurm_clusters where id = ${cluster.id}`,
      )
    ).rows
    expect(after).toEqual({ due: true })
  })

  test('has all its targets and its whole command in the audit log', async () => {
    const hostlist = 'n[1-600]'
    const { id } = await start({ verb: 'DRAIN_NODES', nodes: { hostlist } })
    await claimOf(id)
    const all = Array.from({ length: 600 }, (_, i) => `n${i + 1}`)
    const command = `scontrol update nodename=${all.join(',')} state=drain reason=fan`
    const sent = { id, token: 'a', command, targets: all.map((target) => ({ target, before: 'IDLE' })) }
    await recordSlurmCommand(ours.worker, sent)
    await finishSlurmAction(ours.worker, { id, token: 'a', error: 'lost' })
    const entries = await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.objectId, id)).orderBy(auditEntries.id)
    expect(entries.map(({ details }) => details)).toMatchObject([
      { targets: hostlist },
      { command, before: [{ before: 'IDLE', targets: hostlist }] },
      { results: [{ result: 'NOT_VERIFIED', message: 'lost', targets: hostlist }] },
    ])
  })

  test('keeps its cluster from removal until it ends', async () => {
    const { id } = await start({ verb: 'DRAIN_NODES', nodes: { hostlist: 'n1' } })
    await claimOf(id)
    await expect(removeSlurmCluster(ours.admin, { id: cluster.id })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining(`The action DRAIN_NODES ${id} of `),
    })
    await finishSlurmAction(ours.worker, { id, token: 'a', error: null })
    await removeSlurmCluster(ours.admin, { id: cluster.id })
  })

  test('is deleted with its targets after the retention of the tenant, as tests of controllers are', async () => {
    const ended = await start({ verb: 'DRAIN_NODES', nodes: { hostlist: 'n1' } })
    const open = await start({ verb: 'DRAIN_NODES', nodes: { hostlist: 'n1' } })
    await claimOf(ended.id)
    await finishSlurmAction(ours.worker, { id: ended.id, token: 'a', error: null })
    const nodeId = cluster.controllerNodeId!
    const shared = { tenantId: ours.tenant.id, nodeId }
    await t.runtime.db.insert(slurmClusterTests).values([{ ...shared, finishedAt: new Date() }, shared])
    await t.runtime.db.execute(sql`update slurm_actions set finished_at = now() - interval '3 days' where id = ${ended.id}`)
    await t.runtime.db.execute(
      sql`update slurm_cluster_tests set finished_at = now() - interval '3 days' where node_id = ${nodeId} and finished_at is not null`,
    )
    const prune = () => pruneSlurmActions(systemCtx(t.runtime))
    const keepFor = (days: number | null) =>
      t.runtime.db.update(tenants).set({ runRetentionDays: days }).where(eq(tenants.id, ours.tenant.id))
    await keepFor(null)
    expect(await prune()).toMatchObject({ slurmActions: 0, slurmTests: 0 })
    await keepFor(4)
    expect(await prune()).toMatchObject({ slurmActions: 0, slurmTests: 0 })
    await keepFor(2)
    expect(await prune()).toMatchObject({ slurmActions: 1, slurmTests: 1 })
    expect(await itemsOf(ended)).toEqual([])
    expect(names(await itemsOf(open))).toEqual(['n1'])
    expect(await t.runtime.db.$count(slurmClusterTests, eq(slurmClusterTests.nodeId, nodeId))).toBe(1)
  })

  test('is continued when its worker was lost', async () => {
    const { id } = await start({ verb: 'DRAIN_NODES', nodes: { hostlist: 'n1' } })
    await claimOf(id)
    const before = await reassignSlurmActions(systemCtx(t.runtime))
    await expire(id)
    expect(await reassignSlurmActions(systemCtx(t.runtime))).toBe(before + 1)
    await claimOf(id, 'b')
    await finishSlurmAction(ours.worker, { id, token: 'b', error: null })
    expect(await reassignSlurmActions(systemCtx(t.runtime))).toBe(before)
    expect(await claimOf(id, 'c')).toBeNull()
  })
})
