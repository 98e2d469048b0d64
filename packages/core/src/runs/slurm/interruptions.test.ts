import { and, eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { removeSlurmCluster } from '../../clusters/index.ts'
import { slurmNodes } from '../../clusters/tables.ts'
import { claimJobRun, pauseQueue, resumeQueue, setMaxConcurrentRuns } from '../../run-queue/index.ts'
import { slurmRunFixture } from '../../testing/slurm-run-fixture.ts'
import { cancelJobRun } from '../lifecycle/cancel-job-run.ts'
import { endLostJobRuns } from '../lifecycle/end-lost-job-runs.ts'
import { finishJobRun } from '../lifecycle/finish-job-run.ts'
import { jobRuns } from '../tables.ts'

const { state, refresh, act, start, advance, rowOf, batchesOf, nodesOf, drained, pass, play } = slurmRunFixture()

test('is no lost run, and takes no place of the limit of concurrent runs', async () => {
  await setMaxConcurrentRuns(state().ours.system, { maxConcurrentRuns: 1 })
  const run = await start()
  await state().t.runtime.db.execute(sql`update job_runs set worker_seen_at = now() - interval '1 hour' where id = ${run.id}`)
  await endLostJobRuns({ ...state().t.runtime, actor: state().ours.system.actor })
  expect(await rowOf(run)).toMatchObject({ status: 'RUNNING' })
  await pass(run)
  expect(await play(run)).toMatchObject({ status: 'SUCCEEDED' })
})

test('a cancel before the playbook resumes the nodes; one during it cancels the run of the batch', async () => {
  const early = await start()
  await advance(early)
  await act()
  await cancelJobRun(state().ours.operator, { id: early.id })
  await advance(early)
  await act()
  await advance(early)
  expect(await rowOf(early)).toMatchObject({ status: 'CANCELED' })
  expect(drained()).toEqual([])

  await refresh()
  const late = await start()
  await pass(late)
  const [batch] = await batchesOf(late)
  await claimJobRun(state().ours.worker, {
    id: batch!.childRunId!,
    workerId: 'w1',
    token: '0193b7a2-0000-7000-8000-000000000000',
  })
  await cancelJobRun(state().ours.operator, { id: late.id })
  await advance(late)
  const child = await rowOf({ id: batch!.childRunId! })
  expect(child).toMatchObject({ status: 'CANCELING', cancelRequestedByName: state().ours.operator.actor.name })
  const counts = { ok: 0, changed: 0, failed: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0, message: null }
  const hosts = [{ name: 'gpu001', ...counts, result: 'RUNNING' as const, currentTask: 'x', currentTaskAt: null }]
  await finishJobRun(state().ours.worker, { id: child.id, token: child.claimToken!, hosts, endCause: 'cancel' })
  await pass(late)
  await pass(late)
  // The playbook had begun on the first node and not on the second.
  expect(drained()).toEqual(['gpu001'])
  expect(await rowOf(late)).toMatchObject({
    status: 'CANCELED',
    error: expect.stringContaining('Still drained by this run: gpu001'),
  })
})

test('drains a node that is DOWN, and leaves it DOWN when nothing ran on it', async () => {
  state().slurm.get('gpu001')!.states = ['DOWN']
  await refresh()
  const run = await start({}, { limit: 'gpu[001-002]' })
  expect(await pass(run)).toEqual(['DRAIN_NODES gpu[001-002]'])
  await cancelJobRun(state().ours.operator, { id: run.id })
  expect(await pass(run)).toEqual(['UNDRAIN_NODES gpu[001-002]'])
  expect(state().slurm.get('gpu001')).toMatchObject({ states: ['DOWN'] })
})

test('resumes a node to whose reason Slurm appended something', async () => {
  const run = await start({}, { limit: 'gpu001' })
  await pass(run)
  await play(run)
  state().slurm.get('gpu001')!.reason += ' : reboot issued'
  await pass(run)
  expect(await pass(run)).toEqual(['RESUME_NODES gpu001'])
  expect(drained()).toEqual([])
})

test('does not begin a queued playbook on a node that is no longer drained', async () => {
  const run = await start({}, { limit: 'gpu[001-002]' })
  await pass(run)
  Object.assign(state().slurm.get('gpu001')!, { states: ['IDLE'], reason: null })
  await refresh()
  expect(await pass(run)).toEqual(['UNDRAIN_NODES gpu[001-002]'])
  const [batch] = await batchesOf(run)
  expect(await rowOf({ id: batch!.childRunId! })).toMatchObject({ status: 'CANCELED', startedAt: null })
  expect(await rowOf(run)).toMatchObject({
    status: 'ERROR',
    error: expect.stringContaining('gpu001: no longer drained and free'),
  })
  expect(drained()).toEqual([])
})

test('drains nothing while the queue is paused', async () => {
  await pauseQueue(state().ours.admin, { reason: 'power' })
  const run = await start()
  expect(await pass(run)).toEqual([])
  expect((await rowOf(run)).slurm!.waitsFor).toContain('paused')
  await resumeQueue(state().ours.admin)
  expect(await pass(run)).toEqual(['DRAIN_NODES gpu[001-002]'])
})

test('keeps its cluster from removal until it ends', async () => {
  const run = await start()
  await expect(removeSlurmCluster(state().ours.admin, { id: state().cluster.id })).rejects.toThrow(`The run ${run.number}`)
  await cancelJobRun(state().ours.operator, { id: run.id })
  await advance(run)
  await removeSlurmCluster(state().ours.admin, { id: state().cluster.id })
})

test('a run that is canceled while it waits for capacity waits for nothing afterwards', async () => {
  for (const name of ['gpu003', 'gpu004']) state().slurm.get(name)!.states = ['DOWN']
  await refresh()
  const run = await start({}, { limit: 'gpu[001-002]' })
  await pass(run)
  expect((await rowOf(run)).slurm!.waitsFor).not.toBeNull()
  await cancelJobRun(state().ours.operator, { id: run.id })
  await pass(run)
  expect(await rowOf(run)).toMatchObject({ status: 'CANCELED', slurm: { waitsFor: null } })
})

/** Matches a Slurm node to another node of the inventory. */
async function rematch(name: string): Promise<string> {
  const { t, ours, cluster } = state()
  const { id: credentialId } = await t.given.credential(ours.admin, 'SSH_KEY')
  const [node] = await t.given.fleet(ours.admin, { nodes: 1, prefix: 'new', with: { credentialId } })
  await t.runtime.db
    .update(slurmNodes)
    .set({ nodeId: node!.id })
    .where(and(eq(slurmNodes.clusterId, cluster.id), eq(slurmNodes.name, name)))
  return node!.name
}

test('runs no playbook on a node that is no longer the one that was drained', async () => {
  const run = await start()
  await advance(run)
  await act()
  await refresh()
  await rematch('gpu001')
  await advance(run)
  const [batch] = await batchesOf(run)
  expect(batch).toMatchObject({
    childRunId: null,
    error: expect.stringContaining('gpu001: the playbook did not begin. It is matched'),
  })
})

test('a Slurm node is in one unfinished run, also after it was matched to another node', async () => {
  const run = await start({}, { limit: 'gpu001' })
  const limit = await rematch('gpu001')
  await expect(start({}, { limit })).rejects.toThrow(`in the unfinished run ${run.number}`)
})

test('keeps nodes drained on which a lost worker may have run the playbook', async () => {
  const run = await start({}, { limit: 'gpu[001-002]' })
  await pass(run)
  const { childRunId } = (await batchesOf(run))[0]!
  const { t, ours } = state()
  await t.runtime.db.update(jobRuns).set({ isIdempotent: false }).where(eq(jobRuns.id, childRunId!))
  await claimJobRun(ours.worker, { id: childRunId!, workerId: 'w1' })
  await t.runtime.db.execute(sql`update job_runs set worker_seen_at = now() - interval '1 hour' where id = ${childRunId}`)
  await endLostJobRuns({ ...t.runtime, actor: ours.system.actor })
  await pass(run)
  await pass(run)
  expect(drained()).toEqual(['gpu001', 'gpu002'])
  expect(await rowOf(run)).toMatchObject({ error: expect.stringContaining('Still drained by this run: gpu[001-002]') })
})

test('keeps nodes drained when the run of the batch was deleted', async () => {
  const run = await start({}, { limit: 'gpu001' })
  await pass(run)
  const { id } = await play(run)
  await state().t.runtime.db.delete(jobRuns).where(eq(jobRuns.id, id))
  await pass(run)
  await pass(run)
  expect(drained()).toEqual(['gpu001'])
})

test('a short deadline does not end a wait for a refresh', async () => {
  const run = await start({ deadlineSeconds: 0, healthSeconds: 0, floorPercent: 0, batchSize: 1 }, { limit: 'gpu[001-002]' })
  await advance(run)
  await act()
  await advance(run)
  expect((await rowOf(run)).slurm!.waitsFor).toBe('a refresh of the cluster prod')
  await refresh()
  await advance(run)
  await play(run)
  await advance(run)
  await advance(run)
  expect((await batchesOf(run))[0]).toMatchObject({ phase: 'VERIFYING' })
  await refresh()
  await advance(run)
  await act()
  await advance(run)
  expect(await rowOf(run)).toMatchObject({ status: 'RUNNING', slurm: { waitsFor: 'a refresh of the cluster prod' } })
  expect(await pass(run)).toEqual([])
  expect(await pass(run)).toEqual(['DRAIN_NODES gpu002'])
})

test('the waits for jobs and for a worker have one deadline', async () => {
  const run = await start({ deadlineSeconds: 600 }, { limit: 'gpu001' })
  await pass(run)
  await state().t.runtime.db.execute(sql`
    update job_run_batches set created_at = now() - interval '11 minutes', phase_since = now() - interval '2 minutes' where job_run_id = ${run.id}`)
  expect(await pass(run)).toEqual(['UNDRAIN_NODES gpu001'])
  await advance(run)
  expect(await rowOf(run)).toMatchObject({ status: 'TIMED_OUT', error: expect.stringContaining('The deadline of 600 s passed') })
})

test('does not wait to resume a node that was removed from the cluster', async () => {
  const run = await start({}, { limit: 'gpu[001-002]' })
  await pass(run)
  await play(run)
  await pass(run)
  state().slurm.delete('gpu001')
  expect(await act()).toEqual(['RESUME_NODES gpu[001-002]'])
  await advance(run)
  expect(await rowOf(run)).toMatchObject({
    status: 'FAILED',
    error: expect.stringMatching(/gpu001: removed from the cluster during the run\.$/),
  })
  expect(drained()).toEqual([])
  expect((await nodesOf(run)).map(({ outcome, isDrained }) => [outcome, isDrained])).toEqual([
    ['FAILED', false],
    ['OK', false],
  ])
})
