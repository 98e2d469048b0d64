import { expect, test } from 'vitest'
import { slurmRunFixture } from '../../testing/slurm-run-fixture.ts'
import { retryJobRun } from '../lifecycle/retry-job-run.ts'

const { state, refresh, act, start, advance, rowOf, batchesOf, nodesOf, hostsOf, logOf, drained, pass, play } = slurmRunFixture()

test('drains, runs on and resumes one batch after the other', async () => {
  const run = await start({}, { reason: 'new driver' })
  expect(run).toMatchObject({ status: 'RUNNING', hostsTotal: 4 })
  expect(await pass(run)).toEqual(['DRAIN_NODES gpu[001-002]'])
  expect(state().slurm.get('gpu001')!.reason).toMatch(new RegExp(`^run ${run.number}: new driver \\(muster [0-9a-f]{12}\\)$`))
  expect(drained()).toEqual(['gpu001', 'gpu002'])
  const child = await play(run)
  expect(child).toMatchObject({ status: 'SUCCEEDED', createdByName: state().ours.operator.actor.name, limit: 'gpu[001-002]' })
  expect(await pass(run)).toEqual([])
  expect(await pass(run)).toEqual(['RESUME_NODES gpu[001-002]'])
  expect(drained()).toEqual([])
  expect(await pass(run)).toEqual(['DRAIN_NODES gpu[003-004]'])
  await play(run)
  await pass(run)
  await pass(run)
  expect(drained()).toEqual([])
  expect(await rowOf(run)).toMatchObject({ status: 'SUCCEEDED', hostsOk: 4, error: null })
  expect((await batchesOf(run)).map(({ phase }) => phase)).toEqual(['DONE', 'DONE'])
  expect(await logOf(run)).toEqual([
    'Batch 1: gpu[001-002] of prod; 2 left.',
    expect.stringMatching(/^Batch 1: no job is left\. The run \d+ executes the playbook\.$/),
    expect.stringMatching(/^Batch 1: The run \d+ ended with SUCCEEDED\.$/),
    'Waiting for healthy nodes: gpu[001-002] (a refresh of the cluster).',
    'Batch 1: done, gpu[001-002] in service.',
    'Batch 2: gpu[003-004] of prod; 0 left.',
    ...Array(2).fill(expect.any(String)),
    expect.stringContaining('Waiting for healthy nodes'),
    'Batch 2: done, gpu[003-004] in service.',
    'All batches are done.',
  ])
})

test('waits for running jobs, and for data from after the drain', async () => {
  state().slurm.get('gpu001')!.jobs = [{ id: 7 }]
  state().slurm.get('gpu002')!.jobs = [{ id: 8 }]
  await refresh()
  const run = await start({}, { limit: 'gpu[001-002]' })
  await advance(run)
  await act()
  state().slurm.get('gpu001')!.jobs = []
  state().slurm.get('gpu002')!.jobs = []
  await advance(run)
  expect((await batchesOf(run))[0]).toMatchObject({ phase: 'WAITING_FOR_JOBS', childRunId: null })
  state().slurm.get('gpu002')!.jobs = [{ id: 8 }]
  await refresh()
  await advance(run)
  expect((await rowOf(run)).slurm!.waitsFor).toBe('the job 8 on gpu002')
  state().slurm.get('gpu002')!.jobs = []
  await refresh()
  await advance(run)
  expect((await batchesOf(run))[0]).toMatchObject({ phase: 'RUNNING' })
})

test('gives up at the deadline: resumes the untouched nodes and stops', async () => {
  for (const name of state().slurm.keys()) state().slurm.get(name)!.jobs = [{ id: 9 }]
  await refresh()
  const run = await start({ deadlineSeconds: 0 })
  await pass(run)
  expect(await pass(run)).toEqual(['UNDRAIN_NODES gpu[001-002]'])
  expect(drained()).toEqual([])
  expect(await rowOf(run)).toMatchObject({ status: 'TIMED_OUT', error: expect.stringContaining('the job 9 on gpu[001-002]') })
})

test('keeps failed nodes drained, resumes the others, begins no further batch, and a retry takes the drains over', async () => {
  const run = await start()
  await pass(run)
  await play(run, { gpu002: 'FAILED' })
  await pass(run)
  await pass(run)
  expect(drained()).toEqual(['gpu002'])
  expect(await rowOf(run)).toMatchObject({
    status: 'PARTIAL',
    error: expect.stringMatching(/^Batch 1 failed, .*ended with PARTIAL\. Still drained by this run: gpu002\.$/),
  })
  expect((await hostsOf(run)).map(({ result }) => result)).toEqual(['OK', 'FAILED', 'NOT_RUN', 'NOT_RUN'])
  const again = await retryJobRun(state().ours.operator, { id: run.id })
  expect(again).toMatchObject({ slurm: { batchSize: 2 }, hostsTotal: 1 })
  expect(await pass(again)).toEqual([])
  await play(again)
  await pass(again)
  await pass(again)
  expect(drained()).toEqual([])
  expect(await rowOf(again)).toMatchObject({ status: 'SUCCEEDED' })
  expect((await nodesOf(run)).find(({ isDrained }) => isDrained)).toBeUndefined()
})

test('leaves a node drained that an admin drained, before or during the run', async () => {
  Object.assign(state().slurm.get('gpu001')!, { states: ['IDLE', 'DRAIN'], reason: 'fan' })
  await refresh()
  const run = await start()
  expect(await pass(run)).toEqual(['DRAIN_NODES gpu002'])
  Object.assign(state().slurm.get('gpu002')!, { reason: 'disk' })
  await play(run)
  await pass(run)
  await pass(run)
  expect(state().slurm.get('gpu001')).toMatchObject({ states: ['IDLE', 'DRAIN'], reason: 'fan' })
  expect(state().slurm.get('gpu002')).toMatchObject({ states: ['IDLE', 'DRAIN'], reason: 'disk' })
  expect((await nodesOf(run))[1]).toMatchObject({ isDrained: false, message: expect.stringContaining('disk') })
})

test('does not run on a node that somebody resumed', async () => {
  const run = await start()
  await advance(run)
  await act()
  Object.assign(state().slurm.get('gpu001')!, { states: ['IDLE'], reason: null })
  await refresh()
  await pass(run)
  expect((await batchesOf(run))[0]).toMatchObject({
    childRunId: null,
    error: expect.stringContaining('gpu001: no longer drained'),
  })
  expect(drained()).toEqual([])
})

test('stops when a node is not healthy after the playbook', async () => {
  const run = await start({ healthSeconds: 0 })
  await pass(run)
  await play(run)
  state().slurm.get('gpu001')!.states = ['DOWN', 'NOT_RESPONDING', 'DRAIN']
  await advance(run)
  await refresh()
  await pass(run)
  expect(drained()).toEqual(['gpu001'])
  await pass(run)
  expect(await rowOf(run)).toMatchObject({
    status: 'PARTIAL',
    error: expect.stringContaining('Still drained by this run: gpu001'),
  })
  expect((await hostsOf(run))[0]).toMatchObject({ result: 'FAILED', message: expect.stringContaining('DOWN+NOT_RESPONDING') })
})

test('resumes nothing when Slurm refuses to drain', async () => {
  const run = await start()
  await advance(run)
  await act({ isRefused: true })
  await pass(run)
  expect(await rowOf(run)).toMatchObject({ status: 'ERROR', error: expect.stringContaining('Access denied') })
})

test('drains with the whole characters of a long reason', async () => {
  const runs = [await start({}, { limit: 'gpu001', reason: '😀'.repeat(100) })]
  runs.push(await start({}, { limit: 'gpu002', reason: `x${'😀'.repeat(100)}` }))
  for (const run of runs) expect(await pass(run)).toHaveLength(1)
  for (const name of ['gpu001', 'gpu002'])
    expect(state().slurm.get(name)!.reason).toMatch(/^run \d+: x?(😀)+ \(muster [0-9a-f]{12}\)$/u)
})

test('two workers advance it once', async () => {
  const run = await start()
  await Promise.all(Array.from({ length: 5 }, () => advance(run)))
  expect(await batchesOf(run)).toHaveLength(1)
  expect(await act()).toEqual(['DRAIN_NODES gpu[001-002]'])
})
