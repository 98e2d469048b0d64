import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { addSlurmCluster } from '../../../../../../packages/core/src/clusters/index.ts'
import {
  claimSlurmAction,
  finishSlurmAction,
  recordSlurmCommand,
  recordSlurmResults,
  type SlurmActionRow,
  slurmActions,
} from '../../../../../../packages/core/src/slurm-actions/index.ts'
import {
  recordRefresh,
  slurmJob,
  slurmNode,
  slurmPartition,
  slurmReservation,
} from '../../../../../../packages/core/src/testing/index.ts'
import { muster, startTestApi, type TestApi } from '../../../testing/muster.ts'

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'

let t: TestApi
let tenant: Awaited<ReturnType<TestApi['given']['tenant']>>
beforeAll(async () => {
  t = await startTestApi()
  tenant = await t.given.tenant()
  const [node] = await t.given.fleet(tenant.operator, { nodes: 1, with: { hostKey: HOST_KEY } })
  await t.signIn(tenant.admin)
  const { id } = await addSlurmCluster(tenant.admin, { name: 'prod', controllerNodeId: node!.id })
  await recordRefresh(tenant.worker, {
    id,
    queries: [],
    durationMs: 1,
    error: null,
    state: {
      ...{ clusterName: 'alpha', version: '23.11.4', settings: {}, scheduler: null, controllers: [] },
      nodes: [slurmNode('n1'), slurmNode('n2', { states: ['IDLE', 'DRAIN'] })],
      partitions: [slurmPartition('debug', { nodes: 'n[1-2]' })],
      reservations: [slurmReservation('fix')],
      jobs: [slurmJob(1, { nodes: 'n1', user: 'bob' }), slurmJob(2, { states: ['PENDING'], nodes: '', user: 'bob' })],
    },
  })
})
afterAll(() => t?.close())

/** Runs the command while a worker ends its action: the last target is refused, when `isRefused`. @returns the action too */
async function run(line: string, isRefused = false) {
  const last = async (): Promise<SlurmActionRow | undefined> =>
    (await t.runtime.db.select().from(slurmActions)).sort((a, b) => (a.id < b.id ? 1 : -1))[0]
  const before = await last()
  const running = muster(line)
  const action = await vi.waitFor(async () => {
    const row = await last()
    if (!row || row.id === before?.id) throw new Error('no action was started')
    return row
  }, 30_000)
  const claim = { id: action.id, token: 'a' }
  const { items } = (await claimSlurmAction(tenant.worker, claim))!
  const targets = items.map(({ target }) => target)
  await recordSlurmCommand(tenant.worker, {
    ...claim,
    command: 'x',
    targets: targets.map((target) => ({ target, before: 'IDLE' })),
  })
  await recordSlurmResults(tenant.worker, {
    ...claim,
    outcomes: targets.map((target, i) =>
      isRefused && i === targets.length - 1
        ? { target, result: 'REFUSED' as const, before: null, after: 'IDLE', message: 'Access/permission denied' }
        : { target, result: 'DONE' as const, before: null, after: 'DRAIN', message: null },
    ),
  })
  await finishSlurmAction(tenant.worker, { ...claim, error: null })
  return { ...(await running), action, targets }
}

it('drains nodes, and its exit code says that some failed', async () => {
  const drained = await run('slurm node drain n[1-2] --reason fan --yes', true)
  expect(drained).toMatchObject({ code: 10, action: { verb: 'DRAIN_NODES', reason: 'fan' }, targets: ['n1', 'n2'] })
  expect(drained.out).toMatch(/^n1 +DONE +DRAIN/m)
  expect(drained.out).toMatch(/^n2 +REFUSED +IDLE +IDLE +Access\/permission denied$/m)
  expect((await run('slurm node resume --state DRAIN --reason done --yes')).targets).toEqual(['n2'])
})

it('shows targets, their state and running jobs before it asks', async () => {
  const { code, err } = await muster('slurm node down n1 --reason broken')
  expect(code).toBe(2)
  expect(err).toContain('n1: MIXED\n')
  expect(err).toContain('Set down 1 target: n1; 1 job run there.')
  expect(err).toContain('--yes')
})

it('changes jobs, partitions and reservations', async () => {
  expect(await run('slurm job cancel --user bob --reason left --yes')).toMatchObject({
    code: 0,
    targets: ['1', '2'],
    action: { action: { verb: 'CANCEL_JOBS' } },
  })
  expect((await run('slurm job update 2 --time-limit none --priority 5 --reason x --yes')).action.action).toEqual({
    verb: 'UPDATE_JOBS',
    timeLimit: 'UNLIMITED',
    priority: 5,
  })
  expect((await run('slurm partition set-state drain debug --reason x --yes')).action.action).toEqual({
    verb: 'SET_PARTITION_STATE',
    state: 'DRAIN',
  })
  expect((await muster('slurm reservation list -o name')).out).toBe('fix\n')
  expect(
    (await run('slurm reservation create fw --nodes n1 --duration 60 --user root --flag maint --reason x --yes')).action,
  ).toMatchObject({
    action: { verb: 'CREATE_RESERVATION', nodes: ['n1'], durationMinutes: 60, users: ['root'], flags: ['MAINT'] },
  })
  expect((await run('slurm reservation delete fix --reason x --yes')).targets).toEqual(['fix'])
})

it('names wrong input and missing rights', async () => {
  expect(await muster('slurm job cancel --user nobody --reason x --yes')).toMatchObject({
    code: 5,
    err: expect.stringContaining('nothing in the cluster prod matches'),
  })
  expect(await muster('slurm node update n1 --reason x --yes')).toMatchObject({ code: 5 })
  await t.signIn(tenant.viewer)
  expect(await muster('slurm node drain n1 --reason x --yes')).toMatchObject({
    code: 3,
    err: expect.stringContaining('slurm:node:drain'),
  })
  await t.signIn(tenant.admin)
})
