import { eq } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { type SlurmOperationKind, slurmOperationNodes, slurmOperations } from '../../slurm-operations/tables.ts'
import { slurmReservation } from '../../testing/slurm-fixture.ts'
import { slurmRunFixture } from '../../testing/slurm-run-fixture.ts'
import { previewRun } from '../lifecycle/preview-run.ts'
import { startBlockers } from './choose-batch.ts'

test('reads the reservations once for all nodes of a batch', () => {
  let reads = 0
  const reservation = {
    ...slurmReservation('maint1'),
    get nodes() {
      reads++
      return 'n[1-3]'
    },
  }
  const view = { cluster: { name: 'prod', reservations: [reservation] }, nodes: new Map() } as never
  const blockerOf = startBlockers(view, { includeReserved: false, maintenanceOnly: false }, { now: 0, runMs: 1 })
  for (const name of ['n4', 'n5', 'n6']) expect(blockerOf({ name, nodeId: null })).toContain('no longer has it')
  expect(reads).toBe(1)
})

const { state, refresh, act, start, advance, rowOf, batchesOf, nodesOf, hostsOf, drained, pass, play } = slurmRunFixture()

test('stays above the floor of each partition', async () => {
  Object.assign(state().slurm.get('gpu004')!, { states: ['DOWN'] })
  await refresh()
  const run = await start({ floorPercent: 50 })
  // Of 4 nodes, 2 must stay, and 3 are in service. The one that is down takes no capacity.
  expect(await pass(run)).toEqual(['DRAIN_NODES gpu[001,004]'])
  expect((await nodesOf(run)).filter(({ batchId }) => batchId).map(({ name }) => name)).toEqual(['gpu001', 'gpu004'])
})

test('waits for capacity', async () => {
  for (const name of ['gpu003', 'gpu004']) state().slurm.get(name)!.states = ['DOWN']
  await refresh()
  const run = await start({}, { limit: 'gpu[001-002]' })
  expect(await pass(run)).toEqual([])
  expect((await rowOf(run)).slurm!.waitsFor).toContain('2 of 4 nodes of the partition batch are in service, and 2 must stay')
  state().slurm.get('gpu003')!.states = ['IDLE']
  await refresh()
  expect(await pass(run)).toEqual(['DRAIN_NODES gpu001'])
})

const reserve = async (nodes: string, flags: string[], startAt: Date, endAt: Date | null = null) => {
  state().reservations = [{ ...slurmReservation('maint1'), nodes, flags, startAt, endAt }]
  await refresh()
}
const PAST = new Date('2026-01-01T00:00:00Z')
const LATER = new Date(Date.now() + 7 * 86_400_000)

test('skips nodes that are reserved by others, unless asked', async () => {
  await reserve('gpu[001-003]', [], PAST)
  const run = await start()
  expect(await pass(run)).toEqual(['DRAIN_NODES gpu004'])
  await play(run)
  await pass(run)
  await pass(run)
  await pass(run)
  expect(await rowOf(run)).toMatchObject({ status: 'PARTIAL', error: expect.stringContaining('Not run on gpu[001-003]') })
  expect((await hostsOf(run))[0]!.message).toContain('reservation maint1')
  expect(await pass(await start({ includeReserved: true }))).toEqual(['DRAIN_NODES gpu[001-002]'])
})

test('with maintenanceOnly waits for the window, and skips nodes without one', async () => {
  await reserve('gpu[001-002]', ['MAINT'], LATER)
  const run = await start({ maintenanceOnly: true })
  expect(await pass(run)).toEqual([])
  expect((await rowOf(run)).slurm!.waitsFor).toContain('the maintenance window maint1')
  await reserve('gpu[001-002]', ['MAINT'], PAST)
  expect(await pass(run)).toEqual(['DRAIN_NODES gpu[001-002]'])
})

test('two runs together stay above the floor, before a refresh shows what the first one drains', async () => {
  const runs = [await start({}, { limit: 'gpu[001-002]' }), await start({}, { limit: 'gpu[003-004]' })]
  await Promise.all([...runs, ...runs].map(advance))
  const batches = await Promise.all(runs.map(batchesOf))
  expect(batches.flat()).toHaveLength(1)
  const second = runs[batches.findIndex((list) => list.length === 0)]!
  const first = runs.find((run) => run !== second)!
  const text = '2 of 4 nodes of the partition batch are in service, and 2 must stay'
  expect((await rowOf(second)).slurm!.waitsFor).toContain(text)
  expect((await batchesOf(first))[0]).toMatchObject({ phase: 'DRAINING' })
  await pass(first)
  await play(first)
  await pass(first)
  expect((await pass(second))[0]).toMatch(/^RESUME_NODES/)
  await advance(first)
  expect((await pass(second))[0]).toMatch(/^DRAIN_NODES/)
})

const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000)

test('a reservation of one node limits the batch: it ends with its slowest node', async () => {
  state().slurm.get('gpu001')!.jobs = [{ id: 7, endAt: inMinutes(600) }]
  await reserve('gpu002', [], inMinutes(300))
  const run = await start({}, { limit: 'gpu[001-002]' })
  expect(await pass(run)).toEqual(['DRAIN_NODES gpu002'])
})

test('a reservation that appears during the wait for jobs, or for a worker, keeps the playbook from beginning', async () => {
  state().slurm.get('gpu001')!.jobs = [{ id: 7, endAt: inMinutes(10) }]
  await refresh()
  const run = await start({}, { limit: 'gpu001' })
  expect(await pass(run)).toEqual(['DRAIN_NODES gpu001'])
  state().slurm.get('gpu001')!.jobs = []
  await reserve('gpu001', [], inMinutes(2))
  expect(await pass(run)).toEqual(['UNDRAIN_NODES gpu001'])
  await advance(run)
  expect((await batchesOf(run))[0]).toMatchObject({ childRunId: null, error: expect.stringContaining('the reservation maint1') })

  await reserve('gpu004', [], inMinutes(2))
  const late = await start({}, { limit: 'gpu002' })
  await pass(late)
  await reserve('gpu002', [], inMinutes(2))
  expect(await pass(late)).toEqual(['UNDRAIN_NODES gpu002'])
  const [batch] = await batchesOf(late)
  expect(await rowOf({ id: batch!.childRunId! })).toMatchObject({ status: 'CANCELED', startedAt: null })
  expect(drained()).toEqual([])
})

test('with maintenanceOnly uses no window that ends before the batch may', async () => {
  await reserve('gpu[001-002]', ['MAINT'], PAST, inMinutes(2))
  const run = await start({ maintenanceOnly: true }, { limit: 'gpu[001-002]' })
  expect(await pass(run)).toEqual([])
  expect(await rowOf(run)).toMatchObject({ status: 'FAILED' })
  expect((await hostsOf(run))[0]!.message).toMatch(/^The maintenance window maint1 ends at /)
})

test('a reservation with a hostlist that cannot be read may include any node', async () => {
  await reserve('gpu[001-', [], PAST)
  const run = await start({}, { limit: 'gpu001' })
  expect(await pass(run)).toEqual([])
  expect((await hostsOf(run))[0]!.message).toContain('the reservation maint1')
})

describe('operations on the cluster', () => {
  const begin = async (kind: SlurmOperationKind, names: string[]): Promise<string> => {
    const { t, ours, cluster } = state()
    const tenantId = ours.tenant.id
    const fields = { tenantId, clusterId: cluster.id, kind, reason: 'r', nodeCount: names.length, createdByName: 'Ada' }
    const [row] = await t.runtime.db.insert(slurmOperations).values(fields).returning()
    const nodes = names.map((name) => ({ tenantId, operationId: row!.id, name }))
    await t.runtime.db.insert(slurmOperationNodes).values(nodes)
    return row!.id
  }
  const end = (id: string) =>
    state().t.runtime.db.update(slurmOperations).set({ finishedAt: new Date() }).where(eq(slurmOperations.id, id))

  test('a run waits with the nodes of a scale-in, and its preview names them', async () => {
    const id = await begin('SCALE_IN', ['gpu001'])
    const input = { template: 'connectivity_check', limit: 'gpu[001-002]', slurm: { floorPercent: 0 } }
    expect((await previewRun(state().ours.operator, input)).slurm).toMatchObject({
      batches: [{ hosts: ['gpu002'] }],
      waiting: [{ host: 'gpu001', reason: `the end of the operation SCALE_IN ${id} of Ada` }],
    })
    const run = await start({ floorPercent: 0 }, { limit: 'gpu[001-002]' })
    expect(await pass(run)).toEqual(['DRAIN_NODES gpu002'])
    const other = await start({ floorPercent: 0 }, { limit: 'gpu[003-004]' })
    expect(await pass(other)).toEqual(['DRAIN_NODES gpu[003-004]'])
    await play(run)
    await pass(run)
    await pass(run)
    expect(await pass(run)).toEqual([])
    expect((await rowOf(run)).slurm!.waitsFor).toBe(`the end of the operation SCALE_IN ${id} of Ada`)
    await end(id)
    expect(await pass(run)).toEqual(['DRAIN_NODES gpu001'])
  })

  test('a node that a scale-in drains is out of service, before a refresh shows it', async () => {
    await begin('SCALE_IN', ['gpu004'])
    const run = await start({ batchSize: 4, floorPercent: 50 }, { limit: 'gpu[001-003]' })
    expect(await pass(run)).toEqual(['DRAIN_NODES gpu001'])
  })

  test('a run waits for the rollout of a configuration, also before its playbook', async () => {
    const run = await start({}, { limit: 'gpu[001-002]' })
    await advance(run)
    await act()
    const id = await begin('CONFIGURE', ['ctl001'])
    await refresh()
    await advance(run)
    expect((await batchesOf(run))[0]).toMatchObject({ phase: 'WAITING_FOR_JOBS' })
    expect((await rowOf(run)).slurm!.waitsFor).toContain(`CONFIGURE ${id}`)
    const other = await start({ floorPercent: 0 }, { limit: 'gpu[003-004]' })
    expect(await pass(other)).toEqual([])
    await end(id)
    await advance(run)
    expect((await batchesOf(run))[0]).toMatchObject({ phase: 'RUNNING' })
  })
})
